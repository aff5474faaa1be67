import { describe, expect, it } from 'vitest';
import { selectRenditions } from '../../../core/resolve/renditions/select-renditions.ts';
import { assembleResource } from '../../../core/resolve/save-item.ts';
import { toResourceInformation } from '../../../lambdas/api/get-resource.ts';
import type { MediaInformation } from '../../../web/src/api/index.ts';
import type { Choice } from '../../../web/src/renditions/choice.ts';
import { choicesOf } from '../../../web/src/renditions/choices.ts';
import { candidatesOf, formatLists } from '../../core/resolve/renditions/format-lists.ts';

const LINK = 'https://media.example/watch';
const GROUPS = ['video', 'audio'] as const;

/** A browser that plays what all current ones play. */
const canPlay = (mimeType: string) => !/hvc1|hev1|dvh1|ec-3|dtsc|x-flv|3gpp|matroska/.test(mimeType);

const choicesOfList = (list: (typeof formatLists)[number]) => {
  const info = { formats: [...list.formats], duration: list.duration, title: 'Title' };
  const origin = { url: LINK, extractor: 'Site', entryId: '1' };
  const resource = assembleResource(info, selectRenditions(candidatesOf(list)), { origin, egress: 'direct', now: 0 });
  const [item] = toResourceInformation({ type: 'Media', resource }, LINK).mediaItems;
  return choicesOf(item as MediaInformation, { canPlay });
};

/** What a row shows besides its size. */
const textOf = ({ label, container, codec, note }: Choice) => JSON.stringify([label, container, codec, note]);

describe.each(formatLists.map((list) => [list.name, list] as const))('the page for %s', (_, list) => {
  const choices = choicesOfList(list);

  it('shows no two rows with the same text', () => {
    for (const group of GROUPS) {
      const texts = choices[group].map(textOf);
      expect(new Set(texts).size).toBe(texts.length);
    }
  });

  it('preselects a choice that plays, unless none of its group does', () => {
    const { preselected } = choices;
    if (!preselected) return expect.fail('Nothing is preselected');
    const sound = choices[preselected.group].filter(({ isFlawed }) => !isFlawed);
    const group = sound.length > 0 ? sound : choices[preselected.group];
    expect(preselected.playsHere).toBe(group.some(({ playsHere }) => playsHere));
  });

  it('preselects a flawed choice only when it ranks first', () => {
    const { preselected } = choices;
    const isFirstFlawed = choices[preselected?.group ?? 'video'][0]?.isFlawed === true;
    if (!isFirstFlawed) expect(preselected?.isFlawed).toBeUndefined();
  });
});
