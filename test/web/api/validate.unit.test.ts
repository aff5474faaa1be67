import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asAppInfo, asResource, UnexpectedShape } from '../../../web/src/api/validate.ts';
import { RESOURCES } from '../fakes/resources.ts';

const item = { requestedUrl: 'https://a.example/', title: 'T', author: null, coverUrl: null };
const resource = (changes: Record<string, unknown>) => ({ type: 'Media', mediaItems: [{ ...item, ...changes }] });

describe('asResource', () => {
  it.each(Object.entries(RESOURCES))('keeps %s as the service sends it', (_, sent) => {
    const read = asResource(JSON.parse(JSON.stringify(sent).replaceAll('"/covers/', '"https://a.example/covers/')));
    expect(read.mediaItems).toHaveLength(sent.mediaItems?.length ?? 0);
    expect(read.title).toBe(sent.title ?? null);
    expect(read.mediaItems.map(({ video }) => video?.renditions?.length)).toEqual(
      (sent.mediaItems ?? []).map(({ video }) => video && (video.renditions?.length ?? 0)),
    );
  });

  it.each([
    ['no object', 'text'],
    ['a list', []],
    ['no items', { type: 'Media' }],
    ['another type', { type: 'Other', mediaItems: [] }],
    ['null among the items', { type: 'Media', mediaItems: [null] }],
    ['items that are no list', { type: 'Media', mediaItems: {} }],
    ['an object as title', resource({ title: { toString: null } })],
    ['a title of a million characters', resource({ title: 'x'.repeat(1e6) })],
    ['a text as video', resource({ video: 'x' })],
    ['null among the renditions', resource({ video: { renditions: [null] } })],
    ['an object as key', resource({ video: { bestQualityKey: {} } })],
    ['a number as key', resource({ video: { renditions: [{ key: 1 }] } })],
    ['a negative size', resource({ audio: { renditions: [{ fileSizeBytes: -1 }] } })],
    ['another URL type', resource({ video: { urlType: 'Other' } })],
    ['10,000 items', { type: 'PlayList', mediaItems: Array(10_000).fill(item) }],
  ])('rejects %s', (_, value) => expect(() => asResource(value)).toThrow(UnexpectedShape));

  it.each(['javascript:alert(1)', 'data:text/html,x', 'nonsense'])('drops the address %s', (address) => {
    const { mediaItems } = asResource(resource({ requestedUrl: address, coverUrl: address }));
    expect(mediaItems[0]).toMatchObject({ requestedUrl: null, coverUrl: null });
  });

  it('throws nothing but UnexpectedShape', () =>
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          fc.anything().map((any) => resource({ video: any, title: any })),
        ),
        (value) => {
          try {
            asResource(value);
          } catch (error) {
            expect(error).toBeInstanceOf(UnexpectedShape);
          }
        },
      ),
    ));
});

describe('asAppInfo', () => {
  it('keeps the fields of the contract', () =>
    expect(asAppInfo({ version: 'v1', isHealthy: true, environment: null, maintenance: 'x', more: 1 })).toEqual({
      version: 'v1',
      isHealthy: true,
      environment: null,
      maintenance: 'x',
    }));

  it.each([[null], [{}], [{ isHealthy: 'yes' }], [{ isHealthy: true, maintenance: {} }]])('rejects %j', (value) =>
    expect(() => asAppInfo(value)).toThrow(UnexpectedShape),
  );
});
