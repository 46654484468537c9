"""Finds tools among thousands by what an agent wants, in words.

Several rankings are fused by ranks: of tools by their words (BM25 over fields) and by their meaning (embeddings, where
`toolcharter[evaluate]` is installed), of servers by both, and of tools by the words for which they were used before.
"""
