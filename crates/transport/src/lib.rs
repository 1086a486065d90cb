//! TCP and UDP endpoints.
