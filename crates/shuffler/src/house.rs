//! The stores, once they can be opened. A disk that is full at the start is no reason to be gone:
//! until it has room, everybody is told to come again.

use crate::config::Config;
use crate::error::{Result, ShufflerError};
use crate::health::Health;
use crate::intake::router;
use crate::keys::KeyRing;
use crate::metrics::Metrics;
use crate::rounds::{Learner, Shared, Table, tend};
use crate::service::Environment;
use crate::store::{self, sqlite_error};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use shuffledp_postgres::PostgresError;
use shuffledp_transport::{HttpClient, Link, Shutdown};
use shuffledp_wire::paths;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use tower_service::Service as _;

/// The parts of a shuffler: some exist before the stores are open, the rest afterwards.
pub(crate) struct House {
    pub(crate) config: RwLock<Arc<Config>>,
    pub(crate) environment: Environment,
    pub(crate) keys: Arc<KeyRing>,
    pub(crate) http: HttpClient,
    pub(crate) shutdown: Shutdown,
    open: OnceLock<Open>,
    /// Why the stores are not open, held while somebody tries.
    trouble: Mutex<Option<String>>,
    link: OnceLock<Link>,
}

/// With the stores.
pub(crate) struct Open {
    pub(crate) shared: Arc<Shared>,
    pub(crate) learner: Arc<Learner>,
    router: Router,
}

impl House {
    pub(crate) fn new(
        config: Config,
        environment: Environment,
        keys: KeyRing,
        http: HttpClient,
        shutdown: Shutdown,
    ) -> Self {
        Self {
            config: RwLock::new(Arc::new(config)),
            environment,
            keys: Arc::new(keys),
            http,
            shutdown,
            open: OnceLock::new(),
            trouble: Mutex::new(None),
            link: OnceLock::new(),
        }
    }

    /// The configuration of this moment.
    pub(crate) fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The parts that exist once the stores are open.
    pub(crate) fn opened(&self) -> Option<&Open> {
        self.open.get()
    }

    /// Why the stores are not open.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Where clients connect.
    pub(crate) fn link(&self) -> Option<&Link> {
        self.link.get()
    }

    pub(crate) fn set_link(&self, link: Link) {
        let _ = self.link.set(link);
    }

    /// Opens the stores, if they are not open. `None` if the disk does not let it; then it is worth
    /// trying again.
    ///
    /// # Errors
    ///
    /// A problem that more room on the disk does not solve.
    pub(crate) fn try_open(&self) -> Result<Option<&Open>> {
        if let Some(open) = self.open.get() {
            return Ok(Some(open));
        }
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody else may have opened them meanwhile.
        if self.open.get().is_none() {
            match self.make_open() {
                Ok(open) => {
                    let _ = self.open.set(open);
                    if trouble.take().is_some() {
                        tracing::info!("the stores are open: reports are taken");
                    }
                }
                Err(error) if error.is_the_disks() => {
                    let text = error.to_string();
                    if trouble.as_ref() != Some(&text) {
                        tracing::error!(%error, "the stores cannot be opened; clients are told to come again until they can");
                    }
                    *trouble = Some(text);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(self.open.get())
    }

    fn make_open(&self) -> Result<Open> {
        let config = self.config();
        let stores = store::open(&config, Arc::clone(&self.environment.witness))?;
        let memory = stores.memory();
        let left = stores.unfinished()?;
        let learner = Arc::new(Learner::new(&config.servers, &*memory)?);
        let shared = Arc::new(Shared {
            clock: stores.clock().unwrap_or_else(|| Arc::clone(&self.environment.clock)),
            witness: Arc::clone(&self.environment.witness),
            new_permute: Arc::clone(&self.environment.permute),
            keys: Arc::clone(&self.keys),
            metrics: Metrics::default(),
            health: Arc::new(Health::default()),
            stores,
            memory,
            http: self.http.clone(),
            table: Table::default(),
            shutdown: self.shutdown.clone(),
            config: RwLock::new(config),
        });
        shared.health.look(&shared.config());
        learner.resume(&shared, left)?;
        let router = router(Arc::clone(&shared), Arc::clone(&learner));
        Ok(Open { shared, learner, router })
    }

    /// Looks after rounds now.
    pub(crate) async fn tick(self: &Arc<Self>) {
        if let Some(open) = self.reopen().await {
            open.learner.look(&open.shared).await;
            tend(&open.shared).await;
        }
    }

    /// [`Self::try_open`] where it may wait. What no room will mend was told at the start, or is
    /// told now.
    pub(crate) async fn reopen(self: &Arc<Self>) -> Option<&Open> {
        if self.open.get().is_none() {
            let house = Arc::clone(self);
            let tried = tokio::task::spawn_blocking(move || house.try_open().map(drop)).await;
            if let Ok(Err(error)) = tried {
                tracing::error!(%error, "the stores cannot be opened");
            }
        }
        self.open.get()
    }

    /// Takes up another configuration. All or nothing.
    pub(crate) fn reload(&self, fresh: Config) -> Result<()> {
        fresh.check()?;
        self.config().check_change(&fresh)?;
        if let Some(link) = self.link.get() {
            link.reload(&fresh.listen)?;
        }
        let fresh = Arc::new(fresh);
        if let Some(open) = self.open.get() {
            open.shared.set_config(Arc::clone(&fresh));
        }
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    /// Everything that clients are answered, whether or not the stores are open.
    pub(crate) fn router(self: &Arc<Self>) -> Router {
        match self.open.get() {
            Some(open) => open.router.clone(),
            None => Router::new().fallback(either).with_state(Arc::clone(self)),
        }
    }
}

/// The stores' router if they are open by now.
async fn either(State(house): State<Arc<House>>, request: Request) -> Response {
    if let Some(open) = house.open.get() {
        return match open.router.clone().call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
    }
    if request.uri().path() == paths::HEALTH {
        return "ok\n".into_response();
    }
    let mut response = StatusCode::SERVICE_UNAVAILABLE.into_response();
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
    response
}

impl ShufflerError {
    /// Whether room on the disk, or a disk or a database that works again, would mend it.
    fn is_the_disks(&self) -> bool {
        use rusqlite::ErrorCode::{DiskFull, ReadOnly, SystemIoFailure};
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        match self {
            Self::Storage(error) => match error.downcast_ref::<PostgresError>() {
                Some(error) => error.may_pass(),
                None => {
                    let code = sqlite_error(self).and_then(rusqlite::Error::sqlite_error_code);
                    matches!(code, Some(DiskFull | SystemIoFailure | ReadOnly))
                }
            },
            Self::Io { cause, .. } => {
                matches!(cause.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem | FileTooLarge)
            }
            _ => false,
        }
    }
}
