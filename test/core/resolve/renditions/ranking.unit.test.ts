import { expect, it } from 'vitest';
import { selectRenditions } from '../../../../core/resolve/renditions/select-renditions.ts';
import type { Rendition } from '../../../../core/state/resource.ts';
import { candidatesOf, formatLists } from './format-lists.ts';

const idsOf = (renditions: readonly Rendition[], side: Rendition['side']) =>
  renditions.filter((rendition) => rendition.side === side).map(({ formatIds }) => formatIds.join('+'));

it.each(formatLists)('selectRenditions orders $name', (list) => {
  const { renditions } = selectRenditions(candidatesOf(list));
  const [video, audio] = [idsOf(renditions, 'video'), idsOf(renditions, 'audio')];
  expect([video.join(' '), audio.join(' ')]).toEqual([list.videoOrder, list.audioOrder]);
  expect([...video, ...audio][0] === list.picked).toBe(list.differs === undefined);
});
