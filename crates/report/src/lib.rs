//! Tables, plots and pages: how results are shown to a person.
