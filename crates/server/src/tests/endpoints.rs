//! The endpoints: what they show, and what they do not.

use super::world::{World, ask, get, id, put};
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use shuffledp_learning::models::Model;
use shuffledp_wire::{ModelHash, Signed, Task, TaskHash, paths};

#[tokio::test]
async fn tasks_rounds_and_models_are_verifiable_and_cacheable() {
    let world = World::new();
    let service = world.serve();
    let task = service.plan().hash();
    assert_eq!(get(&service, &paths::round(&task)).await.status, StatusCode::NOT_FOUND);
    service.tick().unwrap();
    let answer = get(&service, &paths::task(&task)).await;
    assert!(answer.headers[header::CACHE_CONTROL].to_str().unwrap().contains("immutable"));
    let shown = Signed::<Task>::decode(&answer.body).unwrap().verify(&world.keys.verifying_key()).unwrap();
    assert_eq!(shown.hash().unwrap(), task);
    assert_eq!((shown.clients, shown.shuffler_key), (100, world.shuffler.verifying_key()));
    // What is opaque to others can be read by those who know it.
    let text = String::from_utf8(shown.randomizer.clone()).unwrap();
    let randomizer: shuffledp_accounting::scheme::RandomizerSpec = toml::from_str(&text).unwrap();
    assert_eq!(randomizer, service.plan().charge.randomizer);
    let text = String::from_utf8(shown.architecture.clone()).unwrap();
    let architecture: shuffledp_learning::models::Architecture = toml::from_str(&text).unwrap();
    assert_eq!(&architecture, service.plan().model.architecture());
    let text = String::from_utf8(shown.step.clone()).unwrap();
    assert_eq!(toml::from_str::<shuffledp_learning::step::StepRule>(&text).unwrap(), service.plan().step);

    let round = world.round(&service);
    round.check_task(&shown).unwrap();
    let answer = get(&service, &paths::round(&task)).await;
    assert_eq!(answer.headers[header::CACHE_CONTROL], "public, max-age=1");
    let model = get(&service, &paths::model(&round.model)).await;
    assert!(model.headers[header::CACHE_CONTROL].to_str().unwrap().contains("immutable"));
    assert_eq!(ModelHash::of(&model.body), round.model);
    // A model of the round before, for those who are late.
    put(&service, id(1), world.batch(id(1), round.context(), &world.records(&round, 0..3))).await;
    service.tick().unwrap();
    assert_ne!(world.round(&service).model, round.model);
    assert_eq!(get(&service, &paths::model(&round.model)).await.body, model.body);

    for path in [
        paths::task(&TaskHash::from_bytes([0; 32])),
        paths::round(&TaskHash::from_bytes([0; 32])),
        paths::model(&ModelHash::of(b"another")),
        "/v1/models/nonsense".to_owned(),
        "/v1/tasks/%2e%2e".to_owned(),
    ] {
        assert_eq!(get(&service, &path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    let post = Request::post(paths::task(&task)).body(Body::empty()).unwrap();
    assert_eq!(ask(&service, post).await.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn privacy_is_the_contract_and_what_is_left() {
    let world = World::new();
    let service = world.serve();
    let privacy = get(&service, "/v1/privacy").await.json();
    assert_eq!((privacy["rounds"].as_u64(), privacy["epsilon"].as_f64()), (Some(0), Some(0.0)));
    service.tick().unwrap();
    let privacy = get(&service, "/v1/privacy").await.json();
    assert_eq!((privacy["adjacency"].as_str(), privacy["standing"].as_str()), (Some("replace-one"), Some("rigorous")));
    assert_eq!((privacy["rounds"].as_u64(), privacy["rounds_left"].as_u64()), (Some(1), Some(4)));
    assert_eq!((privacy["delta"].as_f64(), privacy["budget"].as_f64()), (Some(1e-5), Some(50.0)));
    let (epsilon, lower) = (privacy["epsilon"].as_f64().unwrap(), privacy["epsilon_lower"].as_f64().unwrap());
    // One report is 1-LDP, and shuffling a hundred of them is better than that.
    assert!(0.0 < lower && lower <= epsilon && epsilon < 1.0, "{lower} {epsilon}");
    let local = privacy["local_epsilon"].as_f64().unwrap();
    assert!((1.0..1.0 + 1e-12).contains(&local), "{local}");
    assert!(privacy["epsilon_at_end"].as_f64().unwrap() > epsilon);
    assert!(privacy["assumptions"].as_array().unwrap().len() >= 5);
}

#[tokio::test]
async fn health_metrics_and_the_page() {
    let world = World::new();
    let service = world.serve();
    service.tick().unwrap();
    assert_eq!(get(&service, paths::HEALTH).await.body, b"ok\n");
    let metrics = String::from_utf8(get(&service, "/metrics").await.body).unwrap();
    assert!(metrics.contains("# TYPE shuffledp_server_epsilon gauge\nshuffledp_server_epsilon 0."), "{metrics}");
    assert!(metrics.contains("\nshuffledp_server_rounds_charged_total 1\n"), "{metrics}");
    let page = get(&service, "/").await;
    assert!(page.headers[header::CONTENT_TYPE].to_str().unwrap().starts_with("text/html"));
    assert!(page.headers.contains_key(header::CONTENT_SECURITY_POLICY));
    let status = get(&service, "/v1/status").await.json();
    assert_eq!((status["phase"].as_str(), status["open"]["round"].as_u64()), (Some("open"), Some(1)));
    assert_eq!(status["expected_reports"].as_f64(), Some(50.0));
}

#[test]
fn no_secret_is_printed() {
    let world = World::new();
    let store = world.store();
    let parts = crate::Parts::with(&world.config, world.keys.clone(), store).unwrap();
    let shown = format!("{parts:?} {:?} {:?}", world.keys, world.config);
    let secrets = [world.keys.signing.to_text(), world.keys.sealing.to_text()];
    for secret in secrets.iter().flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()) {
        let secret = secret.rsplit(':').next().unwrap_or_default().to_owned();
        assert!(secret.len() < 8 || !shown.contains(&secret));
    }
}
