"""The names of records and fields in the messages between strategy and mod."""

# From the server: the configuration, with Flower's own name for the number of the round.
CONFIG = "config"
ROUND = "server-round"
TASK = "shuffledp-task"
MODEL = "arrays"

# From the client: one row of bytes for each report.
REPORTS = "reports"
FRAMES = "frames"

# On the client alone: in the message that the app gets, and in the node's context.
LOCAL = "shuffledp"
PARTICIPANTS = "participants"
LAST_ROUND = "last-round"
