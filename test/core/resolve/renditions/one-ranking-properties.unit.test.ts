import { describe, expect, it } from 'vitest';
import type { Selection } from '../../../../core/api/index.ts';
import { selectQuality } from '../../../../core/resolve/renditions/select-quality.ts';
import { keyOf } from '../../../../core/state/keys.ts';
import type { Flaw, Rendition } from '../../../../core/state/resource.ts';
import { formatLists, itemOf } from './format-lists.ts';
import { check, type ResolvedList, resolved } from './generated-lists.ts';

const HEIGHTS = [144, 360, 480, 719, 720, 1080, 1440, 2160];
const WISHES: readonly Selection[] = ([undefined, 'any'] as const).flatMap((codec) =>
  (['best', 'worst', 'audio', ...HEIGHTS.map((maxHeight) => ({ maxHeight }))] as const).map((quality) => ({
    quality,
    codec,
  })),
);
const SERIOUS_FIRST: readonly Flaw[] = [
  'partial',
  'protected',
  'browsers',
  'damaged',
  'upscaled',
  'watermarked',
  'description',
  'dub',
  'boosted',
];

const severity = ({ flaws = [], versions = [] }: Rendition) =>
  [...SERIOUS_FIRST.map((flaw) => flaws.includes(flaw)), versions.includes('drc')].map(Number).join('');

const tracksOf = ({ resource }: ResolvedList, { formatIds }: Rendition) =>
  formatIds.flatMap((id) => resource.tracks.find(({ formatId }) => formatId === id) ?? []);

const linesOf = (found: ResolvedList, rendition: Rendition) => {
  const [{ height = 0, width = height } = {}] = tracksOf(found, rendition).flatMap(({ video }) => video ?? []);
  return Math.min(height, width);
};

const playsEverywhere = (found: ResolvedList, rendition: Rendition) =>
  /^\.(?:mp4|m4v|m4a|mp3|aac)$/.test(rendition.fileExtension) &&
  linesOf(found, rendition) <= 1440 &&
  tracksOf(found, rendition).every(
    ({ video, audio }) =>
      /^(?:avc|h264|$)/i.test(video?.codec ?? '') && /^(?:mp4a|aac|mp3|$)/i.test(audio?.codec ?? ''),
  );

/** The renditions of one side in the order in which GetResource lists them, without conversions. */
const listedBy = ({ resource, offer }: ResolvedList, side: Rendition['side']): Rendition[] =>
  (offer?.[side]?.renditions ?? []).flatMap(({ key, convertTo }) => {
    const found = resource.renditions.find(
      (rendition) => rendition.side === side && keyOf(resource.id, rendition.id) === key,
    );
    return found && !convertTo ? [found] : [];
  });

/** Fails unless Get chooses the first of GetResource's renditions that satisfies a wish and is no worse than those before it. */
function expectFirst(found: ResolvedList, wish: Selection): void {
  const { quality = 'best', codec } = wish;
  const side = quality === 'audio' || !found.offer?.video ? 'audio' : 'video';
  const listed = listedBy(found, side);
  if (listed.length === 0) return;
  const chosen = selectQuality(found.resource, wish)?.rendition;
  const sound = listed.filter((each, index) => listed.slice(0, index).every((one) => severity(one) >= severity(each)));
  const common = codec === 'any' ? [] : sound.filter((each) => playsEverywhere(found, each));
  const ranked = common.length > 0 ? common : sound;
  const fitting =
    typeof quality === 'string' ? ranked : ranked.filter((each) => linesOf(found, each) <= quality.maxHeight);
  const isLast = quality === 'worst' || fitting.length === 0;
  expect(chosen?.id, JSON.stringify(wish)).toBe((isLast ? ranked.at(-1) : fitting[0])?.id);
  if (listed[0]?.flaws === undefined) expect(chosen?.flaws).toBeUndefined();
}

const expectFirstOfAll = (found: ResolvedList) => {
  for (const wish of WISHES) expectFirst(found, wish);
};

describe("Get's choice is the first of GetResource's that satisfies the wish", () => {
  it.each(formatLists.map((list) => [list.name, list] as const))('of %s', (_, list) =>
    expectFirstOfAll(resolved(itemOf(list)) ?? expect.fail('Nothing is offered')),
  );

  it('of any list of formats', () => check(expectFirstOfAll, 1000));
});

it('renditions are stored with what their formats say of them', () =>
  check(({ resource, candidates }) => {
    for (const { formatIds, flaws = [] } of resource.renditions) {
      const formats = candidates.filter(({ track }) => (formatIds as readonly string[]).includes(track.formatId));
      expect(flaws.includes('protected')).toBe(formats.some(({ mayHaveDrm }) => mayHaveDrm));
      expect(flaws.includes('browsers')).toBe(formats.some(({ needsImpersonation }) => needsImpersonation));
      expect(flaws.includes('damaged')).toBe(formats.some(({ preference }) => preference <= -10));
    }
  }));
