"""Markdown to and from the formats of the sites: ADF on Cloud, wiki markup and storage format on Data Center."""
