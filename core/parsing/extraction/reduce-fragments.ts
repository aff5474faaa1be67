import { type DashFragment, type FragmentList, packFragments } from '@reelay/seekable-media/dash';
import { duration } from '@reelay/seekable-media/values';
import { type Info, infoList, text, webUrl } from './info.ts';

/** DASH fragments of all formats of an item together: a day of one format, or some hours of many. */
const MAX_FRAGMENTS = { video: 150_000, audio: 50_000 };
/** Characters of the URLs of all these fragments, each as written. */
const MAX_FRAGMENT_CHARS = 8 * 1024 * 1024;
/** Characters of one URL: longer ones are not requested. */
const MAX_URL_CHARS = 8_192;

/**
 * Returns what reads the fragments of the formats of one item, best first, up to the bounds: a short manifest may expand to
 * millions. Undefined for a format that is not DASH, or beyond the bounds, or with a fragment without an http or https
 * URL.
 */
export function createFragmentReader(): (format: Info) => FragmentList | undefined {
  const remaining = { ...MAX_FRAGMENTS };
  let remainingChars = MAX_FRAGMENT_CHARS;
  return (format) => {
    const { fragments, protocol, url } = format;
    const isRead = protocol === 'http_dash_segments' && Array.isArray(fragments) && isJoinable(format);
    if (!isRead) return undefined;
    const isAudio = format.vcodec === 'none' || format.resolution === 'audio only';
    const kind = isAudio ? 'audio' : 'video';
    const written = text(format.fragment_base_url) ?? '';
    const base = webUrl(written, webUrl(url));
    if (!base || Math.max(base.length, written.length) > MAX_URL_CHARS) return undefined;
    if (fragments.length === 0 || fragments.length > remaining[kind]) return undefined;
    remaining[kind] -= fragments.length;
    const found = readFragments(fragments, new URL(base).origin, remainingChars);
    remainingChars -= found?.urls.length ?? 0;
    return found;
  };
}

function readFragments(fragments: readonly unknown[], origin: string, maxChars: number): FragmentList | undefined {
  let chars = 0;
  const read: DashFragment[] = [];
  for (const fragment of infoList(fragments)) {
    const reference = fragment.url ?? fragment.path;
    if (typeof reference !== 'string' || reference.length > MAX_URL_CHARS) return undefined;
    chars += reference.length + 1;
    // Whether a reference is valid does not depend on the path of its base: a short one saves time.
    if (chars > maxChars || !webUrl(reference, origin)) return undefined;
    read.push({ url: reference, seconds: duration(fragment.duration) ?? 0 });
  }
  return read.length === fragments.length ? packFragments(read) : undefined;
}

/**
 * Whether the fragments make one file when they are joined. Complete files, each with a header of its own, do not: the
 * extractor of Bilibili describes FLV and MP4 files in parts so, with the size of each. The stream service joins FLV, whose
 * parts all need a duration: one without would be an initialization segment.
 */
function isJoinable(format: Info): boolean {
  const fragments = infoList(format.fragments);
  if (text(format.ext)?.toLowerCase() === 'flv') return fragments.every((each) => Boolean(duration(each.duration)));
  return !fragments.some(({ filesize }) => Boolean(filesize));
}
