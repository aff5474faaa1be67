/** Numbers of a query parameter such as `dead=2,5`. */
const numbersIn = (url: URL, name: string): Set<number> =>
  new Set((url.searchParams.get(name) ?? '').split(',').filter(Boolean).map(Number));

/** Kinds of entry that a query may put at given positions. */
const SPECIAL: Readonly<Record<string, string>> = {
  dead: 'gone',
  private: 'private',
  drm: 'drm',
  slow: 'slow-once',
  broken: 'bug',
};

/**
 * `/site/list/{name}?n=5&dead=2&private=3&drm=4&slow=5&broken=1`: a playlist of `n` entries, some of which fail.
 * Every entry is a link to resolve.
 */
export function describeList(url: URL, name: string): Record<string, unknown> {
  const length = Number(url.searchParams.get('n') ?? 3);
  const kind = url.searchParams.get('kind') ?? 'combined';
  const places = Object.entries(SPECIAL).map(([query, special]) => [numbersIn(url, query), special] as const);
  const entries = Array.from({ length }, (_, index) => {
    const number = index + 1;
    const entryKind = places.find(([at]) => at.has(number))?.[1] ?? kind;
    return {
      _type: 'url',
      ie_key: 'ReelayTest',
      id: `${name}-${number}`,
      url: `${url.origin}/site/${entryKind}/${name}-${number}`,
      title: `Entry ${number}`,
      uploader: 'List Example',
      thumbnails: [{ url: `${url.origin}/files/wide.jpg`, width: 640, height: 360 }],
    };
  });
  return {
    _type: 'playlist',
    id: name,
    title: `List ${name}`,
    uploader: 'List Example',
    thumbnails: [{ url: `${url.origin}/files/wide.jpg`, width: 640, height: 360 }],
    entries,
  };
}
