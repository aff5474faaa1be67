"""Reduces the subtitles of an item: some sites list a hundred translations of each caption, in eight formats."""

READ_FORMATS = ('vtt', 'srt', 'ttml', 'dfxp', 'xml', 'json3', 'srv3', 'srv2', 'srv1')  # as packages/seekable-media/src/text/subtitles.ts
MAX_LANGUAGES = 200
MAX_URL_CHARS = 8_192


def reduce_subtitles(info, depth=2):
    """Keeps one readable file of each language, in place; also of the entries of a playlist."""
    if not isinstance(info, dict) or depth == 0:
        return
    for field in ('subtitles', 'automatic_captions'):
        if field in info:
            info[field] = reduced(info[field])
    entries = info.get('entries')
    for entry in entries if isinstance(entries, list) else ():
        reduce_subtitles(entry, depth - 1)


def reduced(languages):
    kept = {}
    for language, files in (languages.items() if isinstance(languages, dict) else ()):
        readable = [file for file in files or () if is_readable(file)]
        if readable and len(kept) < MAX_LANGUAGES:
            kept[language] = [min(readable, key=lambda file: (is_list(file), READ_FORMATS.index(file['ext'])))]
    return kept


def is_readable(file):
    """Whether it is in a format that the service reads, in one file or in the segments of an HLS playlist: not text in place."""
    if not isinstance(file, dict) or file.get('ext') not in READ_FORMATS:
        return False
    url = file.get('url')
    is_read = file['ext'] == 'vtt' if is_list(file) else file.get('protocol') in (None, 'http', 'https')
    return is_read and isinstance(url, str) and len(url) <= MAX_URL_CHARS


def is_list(file):
    return file.get('protocol') in ('m3u8', 'm3u8_native')
