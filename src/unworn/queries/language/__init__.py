"""The language of questions: expressions, their SQL text and JSON, and what they mean on rows."""
