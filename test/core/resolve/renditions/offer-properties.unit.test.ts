import { describe, expect, it } from 'vitest';
import { findConversionName } from '../../../../core/conversions/index.ts';
import { findByKey } from '../../../../core/state/keys.ts';
import { prepareOutput } from '../../../../stream-service/outputs/plan.ts';
import { check, type ResolvedList } from './generated-lists.ts';

const renditionsOf = ({ offer }: ResolvedList) =>
  [offer?.video, offer?.audio].flatMap((side) => side?.renditions ?? []);

describe('for any list of formats', () => {
  it('each rendition is found by its key and can be opened on both endpoints', () =>
    check(async (found) => {
      for (const { key, urlType, convertTo, mimeType, fileExtension } of renditionsOf(found)) {
        const keyed = await findByKey(key ?? '', async () => found.resource);
        if (!keyed) return expect.fail(`No rendition has the key ${key}`);
        expect(keyed.tracks).toHaveLength(urlType === 'Combined' ? 2 : 1);
        const format = findConversionName(convertTo ?? undefined);
        const { head } = prepareOutput(keyed, { route: 'Media', format });
        const expected = convertTo ? { mimeType } : { mimeType, fileExtension };
        const isWebm = keyed.tracks.some(({ delivery }) => delivery !== 'direct') && urlType === 'Media';
        if (!isWebm) expect(head).toMatchObject(expected);
        expect(prepareOutput(keyed, { route: 'Combined' }).head.acceptRanges).toBe('none');
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

  it('damaged formats, those for browsers and possibly protected ones come last', () =>
    check(({ resource, candidates }) => {
      const damaged = new Set(
        candidates
          .filter((candidate) => candidate.preference <= -10 || candidate.mayHaveDrm || candidate.needsImpersonation)
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
