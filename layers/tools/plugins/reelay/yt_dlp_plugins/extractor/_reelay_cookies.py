"""Cookies of the operator that a site replaces while it is asked."""
import time

MAX_COOKIES = 50  # replaced by one link
MAX_CHARS = 4096  # of a name and its value, as browsers keep


class CookieRecorder:
    """Records which cookies of the file the responses of one request replace.

    Neither cookies that extractors set nor those that the file lacks count.
    """

    def __init__(self, ydl, current):
        """current: cookies that have been replaced since this process read the file"""
        self.jar = ydl.cookiejar
        for cookie in self.jar:
            for newer in current:
                if key_of(cookie) == (newer['domain'], newer['path'], newer['name']):
                    cookie.value, cookie.expires = newer['value'], newer['expires'] or None
        self.first = self.snapshot()
        self.replaced = set()
        self.has_deletion = False
        urlopen = ydl.urlopen

        def urlopen_and_compare(request):
            before = self.snapshot()
            response = urlopen(request)
            self.compare(before)
            return response

        ydl.urlopen = urlopen_and_compare

    def snapshot(self):
        return {key_of(cookie): (cookie.value or '', cookie.expires) for cookie in self.jar}

    def compare(self, before):
        after, now = self.snapshot(), time.time()
        for key, (value, expires) in before.items():
            if key not in self.first or (expires and expires <= now):
                continue
            if not after.get(key, ('',))[0]:
                # What a site does when it ends a session.
                self.has_deletion = self.has_deletion or bool(value)
            elif after[key] != (value, expires):
                self.replaced.add(key)

    def changes(self):
        """The replaced cookies; none if a response has deleted one."""
        if self.has_deletion:
            return []
        changed = [{'domain': domain, 'path': path, 'name': name, 'before': self.first[domain, path, name][0],
                    'value': value, 'expires': int(expires or 0)}
                   for (domain, path, name), (value, expires) in self.snapshot().items()
                   if (domain, path, name) in self.replaced and len(name) + len(value) <= MAX_CHARS]
        return changed[:MAX_COOKIES]


def key_of(cookie):
    return cookie.domain, cookie.path, cookie.name
