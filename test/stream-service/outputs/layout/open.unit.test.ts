import { nameOf } from '@reelay/source/names';
import { expect, it } from 'vitest';
import { UnsupportedMp4 } from '../../../../packages/seekable-media/src/isobmff/boxes.ts';
import { LayoutBuilder } from '../../../../packages/seekable-media/src/virtual-mp4/layout.ts';
import {
  type LayoutDependencies,
  type LayoutPlan,
  openLayout,
} from '../../../../stream-service/outputs/layout/open.ts';
import type { KnownLayout } from '../../../../stream-service/outputs/layout/read-layout.ts';
import { prepareOutput } from '../../../../stream-service/outputs/plan.ts';
import type { Opening } from '../../../../stream-service/outputs/representation.ts';
import { itemOf } from '../languages/fixture.ts';

it.each([
  ['of a pair', {}, true],
  ['of none of it in another language', { audio: 'de' }, false],
  ['of none of it in every language', { audio: 'all' }, false],
])('records the size %s', async (_, query, isRecorded) => {
  const resource = itemOf([{ language: 'en', rendition: { versions: ['original'] } }, { language: 'de' }]);
  const [rendition] = resource.renditions;
  const [video, english] = resource.tracks;
  if (!rendition || !video || !english) throw new UnsupportedMp4('No pair');
  const plan = prepareOutput(
    { key: 'key', resource, rendition, tracks: [video, english] },
    { route: 'Media', ...query },
  );
  const builder = new LayoutBuilder();
  builder.addOwn(Buffer.alloc(100));
  const known: KnownLayout = {
    layout: builder.build(),
    name: nameOf([], 'a'),
    fits: (_, file): file is never => !file,
  };
  const recorded: number[] = [];
  const dependencies = {
    layouts: { load: async () => known },
    recordSize: (_: unknown, bytes: number) => recorded.push(bytes),
  } as unknown as LayoutDependencies;
  const { size } = (await openLayout(
    plan as LayoutPlan,
    { isForHead: true, range: { first: 0 }, session: {} } as Opening,
    dependencies,
  )) as { size?: number };
  expect([size, recorded]).toEqual([100, isRecorded ? [100] : []]);
});
