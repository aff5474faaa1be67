import { describe, expect, it } from 'vitest';
import { selectRenditions } from '../../../../core/resolve/renditions/select-renditions.ts';
import type { Rendition } from '../../../../core/state/resource.ts';
import { expectedOrders } from './expected-orders.ts';
import { candidatesOf, formatLists } from './format-lists.ts';

const idsOf = (renditions: readonly Rendition[], side: Rendition['side']) =>
  renditions.filter((rendition) => rendition.side === side).map(({ formatIds }) => formatIds.join('+'));

describe('selectRenditions', () => {
  it.each(formatLists)('orders $name', (list) => {
    const { renditions } = selectRenditions(candidatesOf(list));
    const [video, audio] = [idsOf(renditions, 'video'), idsOf(renditions, 'audio')];
    const expected = expectedOrders[list.name] ?? expect.fail('No expected order');
    expect(video.join(' ')).toBe(expected.video ?? '');
    expect(audio.join(' ')).toBe(expected.audio ?? '');
    const best = video[0] ?? audio[0];
    if (expected.differs) expect(best).not.toBe(list.picked);
    else expect(best).toBe(list.picked);
  });

  it('has an expected order for each list', () =>
    expect(formatLists.map(({ name }) => name).toSorted()).toEqual(Object.keys(expectedOrders).toSorted()));
});
