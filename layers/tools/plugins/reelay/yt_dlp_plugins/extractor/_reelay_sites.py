"""The sites that the extractors of this yt-dlp read, for people who ask which."""

# In the order in which they are named.
WELL_KNOWN = {'youtube': 'YouTube', 'vimeo': 'Vimeo', 'tiktok': 'TikTok', 'soundcloud': 'SoundCloud',
              'dailymotion': 'Dailymotion', 'bandcamp': 'Bandcamp', 'bilibili': 'Bilibili'}
MAX_NAMES = 3


def known_sites(ydl):
    """Names some sites and counts all. Several extractors of a site, `twitch:vod` and `twitch:clips`, are one; those that yt-dlp
    itself does not list, or marks as broken, are none."""
    names = {extractor.IE_NAME.split(':')[0].lower() for extractor in ydl._ies.values()
             if extractor.working() and extractor.IE_DESC is not False}
    names.discard('generic')
    return {'count': len(names), 'names': [WELL_KNOWN[name] for name in WELL_KNOWN if name in names][:MAX_NAMES]}
