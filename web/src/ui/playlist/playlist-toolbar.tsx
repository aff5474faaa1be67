import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import type { FormatPreference } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Button, ButtonSize, Select } from '../controls.tsx';
import { usePublishedHeight } from '../hooks.ts';

/** Which rendition of each entry to download: what is preferred, unless the format says otherwise. */
export const FORMATS = {
  recommended: {},
  highest: { group: 'video', height: Number.POSITIVE_INFINITY },
  audio: { group: 'audio', container: undefined },
  mp3: { group: 'audio', container: 'MP3' },
} as const satisfies Readonly<Record<string, FormatPreference>>;

export type PlaylistFormat = keyof typeof FORMATS;

const FORMAT_NAMES = Object.keys(FORMATS) as readonly PlaylistFormat[];

interface PlaylistToolbarProps {
  readonly pickedCount: number;
  /** Total size of the selected entries; undefined while the size of one is unknown. */
  readonly sizeBytes: number | undefined;
  /** Whether every entry that the filter shows is selected. */
  readonly allPicked: boolean;
  readonly format: PlaylistFormat;
  readonly onPickAll: (isAll: boolean) => void;
  readonly onFormat: (format: PlaylistFormat) => void;
  readonly onDownload: () => void;
  /** The file may lack some of the selected entries. */
  readonly mayMiss: boolean;
  /** Other ways to get the entries, shown behind "More". */
  readonly children?: ComponentChildren;
}

/** Selection, format and download of a playlist in one row; in smaller windows the format is behind "More". */
export const PlaylistToolbar = (props: PlaylistToolbarProps) => {
  const { pickedCount, mayMiss, sizeBytes, allPicked, format, children } = props;
  const { onPickAll, onFormat, onDownload } = props;
  const { t, format: formatOf } = usePage();
  const bar = useRef<HTMLDivElement>(null);
  usePublishedHeight(bar, '--toolbar');
  const size = sizeBytes ? t('choices.about', { size: formatOf.bytes(sizeBytes) }) : undefined;
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const formats = (
    <Select
      label={t('list.prefer')}
      value={format}
      options={FORMAT_NAMES}
      nameOf={(one) => t(`list.prefer.${one}`)}
      onChange={onFormat}
    />
  );
  const action = pickedCount === 0 ? 'action.download' : mayMiss ? 'list.upTo' : 'list.download';
  return (
    <>
      <div class="row toolbar" ref={bar}>
        <label class="all">
          <input
            type="checkbox"
            class="checkbox"
            checked={pickedCount > 0 && allPicked}
            indeterminate={pickedCount > 0 && !allPicked}
            onChange={({ currentTarget }) => onPickAll(currentTarget.checked)}
          />
          <span class="word">{t('list.all')}</span>
        </label>
        {formats}
        <div class="toolbar-end">
          {/* aria-disabled: a disabled button would lose the focus. */}
          <Button
            look="primary"
            icon="download"
            aria-disabled={pickedCount === 0}
            onClick={() => pickedCount > 0 && onDownload()}
          >
            <span>
              {t(action, { count: pickedCount })}
              <ButtonSize size={size} />
            </span>
          </Button>
          <Button
            look={children ? '' : 'narrow-only'}
            icon="more"
            name={t('list.more')}
            aria-expanded={isOpen}
            aria-controls={id}
            onClick={() => setOpen(!isOpen)}
          />
        </div>
      </div>
      <div id={id} class={children ? 'toolbar-more' : 'toolbar-more narrow-only'} hidden={!isOpen}>
        <div class="narrow-only">{formats}</div>
        {children}
      </div>
    </>
  );
};
