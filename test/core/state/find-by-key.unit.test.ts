import { describe, expect, it } from 'vitest';
import { findByKey, keyOf, renditionId } from '../../../core/state/keys.ts';
import type { Rendition } from '../../../core/state/resource.ts';
import { aRendition, aResource } from './resources.ts';

const traits = { side: 'video', urlType: 'Media', formatIds: ['18'] } as const;
const rendition = aRendition(renditionId(traits), traits);

describe('findByKey', () => {
  it.each([
    ['offered', aResource(0, { renditions: [rendition] }), rendition],
    ['withdrawn', aResource(0, { withdrawn: [rendition] }), rendition],
    ['of which the source has no track any more', aResource(0, { withdrawn: [rendition], tracks: [] }), undefined],
    ['unknown', aResource(0), undefined],
  ])('finds a rendition that is %s', async (_, resource, found) => {
    const key = keyOf(resource.id, rendition.id);
    expect((await findByKey(key, async () => resource))?.rendition).toEqual(found);
  });

  it.each([
    ['pair', {}],
    ['withdrawn pair', { renditions: [], withdrawn: [] as Rendition[] }],
  ])('finds the video of a %s by a key of its own', async (_, changes) => {
    const traitsOfPair = { side: 'video', urlType: 'Combined', formatIds: ['18', '140'] } as const;
    const pair = aRendition(renditionId(traitsOfPair), { ...traitsOfPair, height: 360 });
    const withdrawn = 'withdrawn' in changes ? [pair] : [];
    const resource = aResource(0, { renditions: [pair], ...changes, withdrawn });
    const found = await findByKey(keyOf(resource.id, rendition.id), async () => resource);
    expect(found?.tracks).toEqual(resource.tracks);
    expect(found?.rendition).toMatchObject({ ...traits, id: rendition.id, mimeType: 'video/mp4', height: 360 });
  });

  it('reads nothing for an invalid key', async () =>
    expect(await findByKey('no', () => Promise.reject(new Error('read')))).toBeUndefined());
});
