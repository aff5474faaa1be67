import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findConversionName } from '../../../../core/conversions/index.ts';
import { assembleResource } from '../../../../core/resolve/link/assemble-resource.ts';
import { selectRenditions } from '../../../../core/resolve/renditions/select-renditions.ts';
import { findByKey } from '../../../../core/state/keys.ts';
import { toResourceInformation } from '../../../../lambdas/api/get-resource.ts';
import { planOutput } from '../../../../stream-service/outputs/plan.ts';
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
  format_note: maybe('DRC', 'Audiodeskription', 'Original', 'HDR'),
  format: maybe('one', 'two'),
});
const item = fc.record({
  formats: fc.array(format, { minLength: 1, maxLength: 12 }),
  duration: maybe(60),
  title: fc.constant('A title'),
});

const resolved = (info: Record<string, unknown>) => {
  const origin = { url: 'https://media.example/', extractor: 'Site', entryId: '1' };
  const candidates = tracksOf(info, 0);
  try {
    const resource = assembleResource(info, selectRenditions(candidates), { origin, egress: 'direct', now: 0 });
    const [offer] = toResourceInformation({ type: 'Media', resource }, origin.url).mediaItems;
    return { resource, offer, candidates };
  } catch {
    return undefined; // No format can be streamed: GetResource answers 404 or 415.
  }
};

const check = (
  property: (of: NonNullable<ReturnType<typeof resolved>>) => void | Promise<void>,
  numRuns = 1500,
): Promise<void> =>
  fc.assert(
    fc.asyncProperty(item, async (info) => {
      const found = resolved(info);
      if (found) await property(found);
    }),
    { numRuns },
  );

const renditionsOf = ({ offer }: NonNullable<ReturnType<typeof resolved>>) =>
  [offer?.video, offer?.audio].flatMap((side) => side?.renditions ?? []);

describe('for any list of formats', () => {
  it('each rendition is found by its key and can be opened on both endpoints', () =>
    check(async (found) => {
      for (const { key, urlType, convertTo, mimeType, fileExtension } of renditionsOf(found)) {
        const keyed = await findByKey(key ?? '', async () => found.resource);
        if (!keyed) return expect.fail(`No rendition has the key ${key}`);
        expect(keyed.tracks).toHaveLength(urlType === 'Combined' ? 2 : 1);
        const format = findConversionName(convertTo ?? undefined);
        const { head } = planOutput(keyed, { route: 'Media', format });
        const expected = convertTo ? { mimeType } : { mimeType, fileExtension };
        const isWebm = keyed.tracks.some(({ delivery }) => delivery !== 'direct') && urlType === 'Media';
        if (!isWebm) expect(head).toMatchObject(expected);
        expect(planOutput(keyed, { route: 'Combined' }).head.acceptRanges).toBe('none');
      }
    }));

  it('each rendition has sound unless no video of the item can have any', () =>
    check((found) => {
      const { resource, candidates } = found;
      const audible = (ids: readonly string[]) =>
        ids.some((id) => resource.tracks.some(({ formatId, audio }) => formatId === id && audio !== null));
      const video = resource.renditions.filter(({ side }) => side === 'video');
      const silent = video.filter(({ formatIds }) => !audible(formatIds));
      if (silent.length > 0) {
        expect(silent).toEqual(video);
        // What is left of audio does not fit into MP4 with any of them.
        const fits = candidates.some(
          ({ track }) => track.audio && (track.video || !/vorbis/.test(track.audio.codec ?? '')),
        );
        const pairable = candidates.some(({ track }) => track.video && !/vp8|unheard-of/.test(track.video.codec ?? ''));
        expect(fits && pairable).toBe(false);
      }
      for (const { formatIds, side } of resource.renditions)
        if (side === 'audio') expect(audible(formatIds)).toBe(true);
    }));

  it('no two renditions of a side look the same', () =>
    check(({ offer }) => {
      for (const side of [offer?.video, offer?.audio]) {
        const shown = side?.renditions.map(({ label, fileExtension, description }) =>
          JSON.stringify([label, fileExtension, description]),
        );
        expect(new Set(shown).size).toBe(shown?.length ?? 0);
      }
    }));

  it('best, medium and worst are renditions of the source, and conversions come last', () =>
    check(({ offer }) => {
      for (const side of [offer?.video, offer?.audio]) {
        if (!side) continue;
        const source = side.renditions.filter(({ convertTo }) => convertTo === null);
        expect(side.renditions.slice(0, source.length)).toEqual(source);
        expect([side.bestQualityKey, side.mediumQualityKey, side.worstQualityKey]).toEqual(
          [source[0], source[Math.floor(source.length / 2)], source.at(-1)].map((one) => one?.key ?? null),
        );
      }
    }));

  it('damaged and possibly protected formats come last', () =>
    check(({ resource, candidates }) => {
      const damaged = new Set(
        candidates
          .filter(({ preference, mayHaveDrm }) => preference <= -10 || mayHaveDrm)
          .map(({ track }) => track.formatId),
      );
      for (const side of ['video', 'audio'] as const) {
        const flags = resource.renditions
          .filter((rendition) => rendition.side === side)
          .map(({ formatIds }) => damaged.has(formatIds[0]));
        expect(flags.toSorted((a, b) => Number(a) - Number(b))).toEqual(flags);
      }
    }));
});
