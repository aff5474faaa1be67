import { DEFAULT_PATTERN, fileNameOf, MAX_PATTERN_CHARACTERS, PATTERN_PARTS } from '../../renditions/index.ts';
import { useObservable, usePage } from '../context.ts';

/** Edits the pattern of file names, with an example. */
export const FileNameForm = () => {
  const { texts, fileNames } = usePage();
  const { t } = texts;
  const pattern = useObservable(fileNames.pattern);
  const example = { title: 'Title', author: 'Artist', quality: '1080p', place: { number: 3, count: 20 } };
  return (
    <>
      <label>
        {t('fileNames.pattern')}
        <input
          dir="ltr"
          maxLength={MAX_PATTERN_CHARACTERS}
          defaultValue={pattern}
          placeholder={DEFAULT_PATTERN}
          onChange={({ currentTarget }) => fileNames.set(currentTarget.value)}
        />
      </label>
      <p class="muted">
        <bdi dir="ltr">{PATTERN_PARTS.map((part) => `{${part}}`).join(' ')}</bdi>
      </p>
      <p class="muted">
        {t('fileNames.example')} <bdi dir="ltr">{fileNameOf(example, '.mp4', pattern)}</bdi>
      </p>
    </>
  );
};
