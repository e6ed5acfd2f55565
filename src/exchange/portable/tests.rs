//! What is written is read again as it was; what was damaged is refused.
