//! The kinds of changes.

/// What a mutation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operator {
    Arithmetic,
    Bitwise,
    ComparisonBoundary,
    ComparisonNegation,
    Boolean,
    Unary,
    Number,
    Text,
    Truth,
    Nothing,
    ReturnValue,
    RemovedCall,
    RemovedStatement,
    LoopExit,
    Condition,
    ComprehensionCondition,
    AugmentedAssignment,
    Slice,
    Container,
    ExceptionHandler,
    DefaultArgument,
    Decorator,
    Yield,
}

impl Operator {
    pub const ALL: [Self; 23] = [
        Self::Arithmetic,
        Self::Bitwise,
        Self::ComparisonBoundary,
        Self::ComparisonNegation,
        Self::Boolean,
        Self::Unary,
        Self::Number,
        Self::Text,
        Self::Truth,
        Self::Nothing,
        Self::ReturnValue,
        Self::RemovedCall,
        Self::RemovedStatement,
        Self::LoopExit,
        Self::Condition,
        Self::ComprehensionCondition,
        Self::AugmentedAssignment,
        Self::Slice,
        Self::Container,
        Self::ExceptionHandler,
        Self::DefaultArgument,
        Self::Decorator,
        Self::Yield,
    ];

    /// How it is named on the command line, in configuration and in documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Arithmetic => "arithmetic",
            Self::Bitwise => "bitwise",
            Self::ComparisonBoundary => "comparison-boundary",
            Self::ComparisonNegation => "comparison-negation",
            Self::Boolean => "boolean",
            Self::Unary => "unary",
            Self::Number => "number",
            Self::Text => "string",
            Self::Truth => "true-false",
            Self::Nothing => "none",
            Self::ReturnValue => "return-value",
            Self::RemovedCall => "removed-call",
            Self::RemovedStatement => "removed-statement",
            Self::LoopExit => "loop-exit",
            Self::Condition => "condition",
            Self::ComprehensionCondition => "comprehension-condition",
            Self::AugmentedAssignment => "augmented-assignment",
            Self::Slice => "slice",
            Self::Container => "container",
            Self::ExceptionHandler => "exception-handler",
            Self::DefaultArgument => "default-argument",
            Self::Decorator => "decorator",
            Self::Yield => "yield",
        }
    }

    /// The operator of that word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.word() == word)
    }

    /// What it does, in one line.
    pub fn says(self) -> &'static str {
        match self {
            Self::Arithmetic => "another arithmetic operator: `a + b` becomes `a - b`",
            Self::Bitwise => "another bitwise operator: `a & b` becomes `a | b`",
            Self::ComparisonBoundary => "the boundary of a comparison moves: `<` becomes `<=`",
            Self::ComparisonNegation => "a comparison is negated: `==` becomes `!=`",
            Self::Boolean => "`and` becomes `or`, and the other way round",
            Self::Unary => "`not`, `-` or `~` is dropped",
            Self::Number => "a number becomes another one",
            Self::Text => "a string gets `XX` at both ends",
            Self::Truth => "`True` becomes `False`, and the other way round",
            Self::Nothing => "`None` becomes a string",
            Self::ReturnValue => "a function or lambda returns `None`",
            Self::RemovedCall => "a call whose result nobody uses is removed",
            Self::RemovedStatement => "an assignment, `raise`, `del` or `assert` is removed",
            Self::LoopExit => "`break` becomes `continue`, and the other way round",
            Self::Condition => "a condition is always true, or never",
            Self::ComprehensionCondition => {
                "the condition of a comprehension is always true, or never"
            }
            Self::AugmentedAssignment => "`+=` becomes `-=` or `=`",
            Self::Slice => "a bound of a slice is dropped",
            Self::Container => "a list, tuple, set or dictionary is empty",
            Self::ExceptionHandler => "what a handler caught is raised again",
            Self::DefaultArgument => "a parameter has another default",
            Self::Decorator => "a decorator is removed",
            Self::Yield => "`None` is yielded, or nothing at all",
        }
    }
}
