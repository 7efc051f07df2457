//! Every item of every paper. They are part of the program, so that it needs no repository.

use super::item::{Item, Paper};
use crate::failure::Failure;
use anyhow::{Context, Result, anyhow};

include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// The file of a folder that is about the paper itself.
const PAPER: &str = "paper";

/// The papers, and their items in the order of the papers.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) papers: Vec<Paper>,
    pub(crate) items: Vec<Item>,
}

impl Library {
    /// Reads everything.
    pub(crate) fn load() -> Result<Self> {
        let mut library = Self { papers: Vec::new(), items: Vec::new() };
        for (folder, name, text) in FILES {
            if *name == PAPER {
                let paper: Paper = toml::from_str(text).with_context(|| format!("experiments/{folder}/paper.toml"))?;
                library.papers.push(Paper { id: (*folder).to_owned(), ..paper });
            } else {
                library.items.push(Item::parse(folder, name, text).map_err(|problem| anyhow!("{problem}"))?);
            }
        }
        library.papers.sort_by_key(|paper| paper.order);
        let order = |item: &Item| library.papers.iter().position(|paper| paper.id == item.paper);
        // Stable: the items of a paper stay in the order of their names.
        library.items.sort_by_key(order);
        Ok(library)
    }

    /// The paper of an item.
    pub(crate) fn paper(&self, item: &Item) -> Option<&Paper> {
        self.papers.iter().find(|paper| paper.id == item.paper)
    }

    /// The items of a paper.
    pub(crate) fn of_paper(&self, name: &str) -> Result<Vec<&Item>, Failure> {
        let known = || self.papers.iter().map(|paper| paper.id.as_str()).collect::<Vec<_>>().join(", ");
        if !self.papers.iter().any(|paper| paper.id == name) {
            return Err(Failure::Usage(format!("--paper: '{name}' is not a paper; use one of {}", known())));
        }
        Ok(self.items.iter().filter(|item| item.paper == name).collect())
    }

    /// The items with these names, or of the figures with these names, each once and in the papers'
    /// order.
    pub(crate) fn named(&self, names: &[String]) -> Result<Vec<&Item>, Failure> {
        let is = |item: &Item, name: &str| item.id == name || item.figure == name;
        for name in names {
            if !self.items.iter().any(|item| is(item, name)) {
                return Err(Failure::Usage(self.unknown(name)));
            }
        }
        Ok(self.items.iter().filter(|item| names.iter().any(|name| is(item, name))).collect())
    }

    fn unknown(&self, name: &str) -> String {
        let paper = self.papers.iter().find(|paper| paper.id == name);
        if let Some(paper) = paper {
            return format!("'{name}' is a paper, not an item: use --paper {}", paper.id);
        }
        let plain = |text: &str| text.replace(['-', '_'], "").to_lowercase();
        let close = |item: &&Item| {
            let (id, name) = (plain(&item.id), plain(name));
            !name.is_empty() && (id.contains(&name) || name.contains(&id))
        };
        let close: Vec<&str> = self.items.iter().filter(close).map(|item| item.id.as_str()).take(4).collect();
        let hint = if close.is_empty() { String::new() } else { format!("did you mean {}? ", close.join(", ")) };
        format!("'{name}' is not an item: {hint}'shuffledp reproduce --list' shows them all")
    }
}
