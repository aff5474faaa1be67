import fc from 'fast-check';
import { selectRenditions } from '../../../../core/resolve/renditions/select-renditions.ts';
import { assembleResource } from '../../../../core/resolve/save-item.ts';
import { toResourceInformation } from '../../../../lambdas/api/get-resource.ts';
import { tracksOf } from '../yt-dlp/tracks-of.ts';

const maybe = <Value>(...values: Value[]) => fc.constantFrom(undefined, null, ...values);
const MANIFESTS = ['https://cdn.example/a.m3u8', 'https://cdn.example/b.m3u8'];

/** A format as an extractor may describe it, with any of its fields missing. */
const format = fc.record({
  format_id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
  url: fc.constantFrom('1', '2', '3', '4', '5', '6', '7', '8').map((path) => `https://cdn.example/${path}`),
  protocol: fc.constantFrom('https', 'http', 'm3u8_native', 'http_dash_segments', 'mhtml'),
  manifest_url: maybe(...MANIFESTS),
  fragments: fc.constant([{ path: 'init' }, { path: '1', duration: 2 }]),
  ext: maybe('mp4', 'webm', 'm4a', 'mp3', 'flv', 'mov', '3gp'),
  vcodec: maybe('none', 'none', 'avc1.64001f', 'vp9', 'vp9.2', 'vp8', 'av01.0.08M.08', 'unheard-of'),
  acodec: maybe('none', 'none', 'mp4a.40.2', 'opus', 'vorbis', 'mp3', 'flac'),
  width: maybe(640, 1080, 1920, 3840),
  height: maybe(360, 1080, 1920, 2160),
  fps: maybe(24, 29.97, 50, 60),
  tbr: maybe(96, 128, 3000),
  abr: maybe(96, 128),
  filesize: maybe(1000, 5000),
  dynamic_range: maybe('SDR', 'HDR10', 'DV'),
  preference: maybe(-100, -10, -1, 1),
  source_preference: maybe(-5, -2, 0, 10),
  quality: maybe(-1, 2.5, 3),
  language_preference: maybe(-10, -1, 10),
  has_drm: maybe<boolean | string>(false, true, 'maybe'),
  impersonate: maybe(true),
  format_note: maybe('DRC', 'Audiodeskription', 'Original', 'HDR', 'watermarked', 'AI-upscaled', 'voice boost'),
  language: maybe('de', 'en'),
  format: maybe('one', 'two'),
});
const item = fc.record({
  formats: fc.array(format, { minLength: 1, maxLength: 12 }),
  duration: maybe(60),
  title: fc.constant('A title'),
});

/** An item as resolved, and as GetResource offers it; undefined when no format can be streamed: it answers 404 or 415. */
export const resolved = (info: Readonly<Record<string, unknown>>) => {
  const origin = { url: 'https://media.example/', extractor: 'Site', entryId: '1' };
  const candidates = tracksOf(info, 0);
  try {
    const resource = assembleResource(info, selectRenditions(candidates), { origin, egress: 'direct', now: 0 });
    const [offer] = toResourceInformation({ type: 'Media', resource }, origin.url).mediaItems;
    return { resource, offer, candidates };
  } catch {
    return undefined;
  }
};

export type ResolvedList = NonNullable<ReturnType<typeof resolved>>;

/** The properties of a file are checked for the same items, which are resolved once: that takes most of the time. */
const seed = Math.trunc(Math.random() * 2 ** 32);
const known = new Map<string, ResolvedList | undefined>();
function resolvedOnce(info: Readonly<Record<string, unknown>>): ResolvedList | undefined {
  const key = JSON.stringify(info);
  if (!known.has(key)) known.set(key, resolved(info));
  return known.get(key);
}

/** Checks a property of generated items. */
export const check = (property: (of: ResolvedList) => void | Promise<void>, numRuns = 1500): Promise<void> =>
  fc.assert(
    fc.asyncProperty(item, async (info) => {
      const found = resolvedOnce(info);
      if (found) await property(found);
    }),
    { numRuns, seed },
  );
