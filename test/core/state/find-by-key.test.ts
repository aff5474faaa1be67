import { describe, expect, it } from 'vitest';
import { findByKey, keyOf, renditionId } from '../../../core/state/keys.ts';
import type { Rendition } from '../../../core/state/resource.ts';
import { aResource } from './resources.ts';

const traits = { side: 'video', urlType: 'Media', formatIds: ['18'] } as const;
const rendition: Rendition = {
  ...traits,
  id: renditionId(traits),
  label: '360p',
  description: null,
  fileExtension: '.mp4',
  mimeType: 'video/mp4',
};

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

  it('reads nothing for an invalid key', async () =>
    expect(await findByKey('no', () => Promise.reject(new Error('read')))).toBeUndefined());
});
