import { recordingText } from '../../core/conversions/index.ts';
import { mp4Tags } from '../../core/media/mp4-tags/index.ts';
import type { Resource } from '../../core/state/index.ts';
import type { Covers } from '../covers/index.ts';
import type { RepresentationHead, RepresentationOpener } from '../representation.ts';

/**
 * An MP4 layout with tags. The first request of all hosts chooses the cover; until then the length is known and the ETag
 * is not.
 * @param create the representation with these tags (`udta`)
 */
export function withTags(
  resource: Resource,
  covers: Covers,
  create: (tags: Buffer) => RepresentationOpener,
): RepresentationOpener {
  const createWith = (cover?: Buffer) => create(mp4Tags(recordingText(resource), cover));
  const withoutEtag = <Head extends RepresentationHead>(head: Head): Head => ({ ...head, etag: undefined });
  const { describe, inspect } = createWith();
  return {
    describe: () => withoutEtag(describe()),
    inspect:
      inspect &&
      (async (session) => {
        const cover = await covers.stored(resource);
        if (!cover) return withoutEtag(await inspect(session));
        const opener = createWith(cover);
        return opener.inspect?.(session) ?? opener.describe();
      }),
    open: async (session, range) => createWith(await covers.find(resource, session)).open(session, range),
  };
}
