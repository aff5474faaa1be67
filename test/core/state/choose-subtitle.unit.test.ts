import { expect, it } from 'vitest';
import { chooseSubtitle } from '../../../core/state/index.ts';
import { aResource } from './resources.ts';

const textOf = (language: string, isAutomatic: boolean) => {
  const id = `${language} ${isAutomatic}`;
  return { id, formatId: id, language, isAutomatic };
};

it.each([
  ['of the same language', 'en', ['en-orig', 'en']],
  ['of the same language, by its original alone', 'en', ['en-orig']],
  ['of a region of it', 'en-GB', ['en-orig']],
])('without a language, subtitles by people %s precede the captions of the original sound', (_, people, captions) => {
  const subtitles = [textOf('de', false), textOf(people, false), ...captions.map((each) => textOf(each, true))];
  expect(chooseSubtitle(aResource(0, { subtitles })).id).toBe(`${people} false`);
});

it('without a language, the captions of the original sound precede subtitles in another language', () => {
  const subtitles = [textOf('de', false), textOf('en-orig', true)];
  expect(chooseSubtitle(aResource(0, { subtitles })).id).toBe('en-orig true');
});
