import type { Track } from './resource.ts';

type Overridden = Pick<Track, 'overrides'>;

/** The URL of a segment or initialization section, with the query that its source requires. */
export const segmentUrl = ({ overrides }: Overridden, url: string): string => withQuery(url, overrides?.segmentQuery);

/** Where a key is requested that a playlist names by its URL. */
export const keyUrl = ({ overrides }: Overridden, url: string): string =>
  overrides?.keyUrl ?? withQuery(url, overrides?.keyQuery ?? overrides?.segmentQuery);

/** The key of all encrypted segments, where the site has sent it with the format. */
export const knownKey = ({ overrides }: Overridden): Buffer | undefined =>
  overrides?.key === undefined ? undefined : Buffer.from(overrides.key, 'hex');

/** The initialization vector in place of the one that a playlist states. */
export const initializationVector = ({ overrides }: Overridden, stated: Buffer): Buffer =>
  overrides?.iv === undefined ? stated : Buffer.from(overrides.iv, 'hex');

/** Parameters of the query replace those of the URL with the same name. */
function withQuery(url: string, query: string | undefined): string {
  const parsed = query ? URL.parse(url) : null;
  if (!parsed) return url;
  const added = new URLSearchParams(query);
  for (const name of new Set(added.keys())) parsed.searchParams.delete(name);
  for (const [name, value] of added) parsed.searchParams.append(name, value);
  return parsed.href;
}
