import { createHash } from 'node:crypto';
import type { Rendition, ResourceOrigin } from './resource.ts';

/** Characters of each digest: 132 bits of the resource, 66 of the rendition within it. */
const RESOURCE_CHARACTERS = 22;
const RENDITION_CHARACTERS = 11;
const KEY = new RegExp(`^([\\w-]{${RESOURCE_CHARACTERS}})([\\w-]{${RENDITION_CHARACTERS}})$`);

/**
 * The id of the resource found at an origin: the same every time it is resolved. A fragment that is a route leads to an
 * item, which has an id of its own; behind a file it leads nowhere.
 */
export const resourceId = ({ url, extractor, entryId, list }: ResourceOrigin): string =>
  digest(
    ['resource', url.split('#', 1)[0] ?? '', extractor, entryId, ...(list === undefined ? [] : [list])],
    RESOURCE_CHARACTERS,
  );

/** The id under which a link is kept. `url` in WHATWG form, without userinfo and fragment. */
export const linkId = (url: string): string => digest(['link', url], RESOURCE_CHARACTERS);

/** The id of a rendition within its resource. */
export const renditionId = ({ side, urlType, formatIds }: Pick<Rendition, 'side' | 'urlType' | 'formatIds'>): string =>
  digest(['rendition', side, urlType, ...formatIds], RENDITION_CHARACTERS);

/** What a client sends back to have a rendition streamed. */
export const keyOf = (resourceId: string, renditionId: string): string => resourceId + renditionId;

/** The two digests of a key; undefined when it cannot be one of ours. */
export function parseKey(key: string): { resourceId: string; renditionId: string } | undefined {
  const [, resourceId, renditionId] = KEY.exec(key) ?? [];
  return resourceId && renditionId ? { resourceId, renditionId } : undefined;
}

/** JSON keeps the parts apart: no two lists of strings give one text. */
const digest = (parts: readonly string[], characters: number): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, characters);
