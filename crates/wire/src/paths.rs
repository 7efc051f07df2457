//! Where messages are exchanged. What `{…}` stands for is lower-case hexadecimal.

use crate::ids::{BatchId, ModelHash, TaskHash};

/// Shuffler: `POST` a sealed report.
pub const REPORTS: &str = "/v1/reports";
/// Shuffler: `GET` its signed key list.
pub const KEYS: &str = "/v1/keys";
/// Server: `GET` what has been spent, as JSON.
pub const PRIVACY: &str = "/v1/privacy";
/// Both: `GET`; 200 when alive.
pub const HEALTH: &str = "/healthz";
/// Server's route for [`task`].
pub const TASK_ROUTE: &str = "/v1/tasks/{task}";
/// Server's route for [`round`].
pub const ROUND_ROUTE: &str = "/v1/tasks/{task}/round";
/// Server's route for [`model`].
pub const MODEL_ROUTE: &str = "/v1/models/{model}";
/// Server's route for [`batch`].
pub const BATCH_ROUTE: &str = "/v1/batches/{batch}";
/// Of every body that is a message of this room.
pub const CONTENT_TYPE: &str = "application/octet-stream";

/// Server: `GET` the signed task.
pub fn task(task: &TaskHash) -> String {
    format!("/v1/tasks/{task}")
}

/// Server: `GET` the signed round that is open, or the last one that was.
pub fn round(task: &TaskHash) -> String {
    format!("/v1/tasks/{task}/round")
}

/// Server: `GET` a model's file.
pub fn model(model: &ModelHash) -> String {
    format!("/v1/models/{model}")
}

/// Server: `PUT` a batch; the same one again has the same answer.
pub fn batch(batch: &BatchId) -> String {
    format!("/v1/batches/{batch}")
}
