//! What a command can end with, other than success.

use sojourn_scenario::LabError;

/// What a command can end with, other than success.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A mistake of the user, or a mishap: said on standard error.
    Lab(LabError),
    /// Standard output is gone (a closed pipe): nothing to say.
    Closed,
    /// What was checked differs from what it has to be, as has been printed.
    Differs,
    /// A mistake of the user that has been printed in its place.
    Told,
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Failure {
        Failure::Lab(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Failure::Closed;
        }
        let path = std::path::Path::new("standard output");
        Failure::Lab(LabError::io(path, "write", &error))
    }
}
