import '../../styles/clip.css';
import type { RefObject } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Choice } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Icon } from '../controls/index.ts';
import { clipOf, formatTime, parseTime } from './clip.ts';

export interface ClipEditorProps {
  readonly choice: Choice;
  /** The element that plays the choice. */
  readonly media: RefObject<HTMLMediaElement | null>;
}

/** Sets start and end of a part of what is playing, and downloads it. */
export const ClipEditor = ({ choice, media }: ClipEditorProps) => {
  const { texts, format, downloads, playback } = usePage();
  const { t } = texts;
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const [start, setStart] = useState('');
  const [end, setEnd] = useState('');
  const [isInvalid, setInvalid] = useState(false);
  const [startSeconds, endSeconds] = [parseTime(start), parseTime(end)];
  const isValid = startSeconds !== undefined && endSeconds !== undefined && startSeconds < endSeconds;

  const open = () => {
    if (!isOpen && start === '') {
      const { currentTime = 0, duration = 0 } = media.current ?? {};
      setStart(formatTime(currentTime));
      setEnd(formatTime(Number.isFinite(duration) && duration > currentTime ? duration : currentTime + 30));
    }
    setOpen(!isOpen);
  };
  const download = (event: Event) => {
    event.preventDefault();
    setInvalid(!isValid);
    const clip = isValid && downloads.fileOf(clipOf(choice, { startSeconds, endSeconds }));
    if (clip) void downloads.start(clip, playback.current.get());
  };
  const field = (name: 'start' | 'end', value: string, set: (value: string) => void) => (
    <div class="clip-field">
      <label for={`${id}-${name}`}>{t(`clip.${name}`)}</label>
      <input
        id={`${id}-${name}`}
        type="text"
        dir="ltr"
        autocomplete="off"
        spellcheck={false}
        value={value}
        aria-invalid={isInvalid}
        aria-describedby={isInvalid ? `${id}-problem` : undefined}
        onInput={({ currentTarget }) => {
          set(currentTarget.value);
          setInvalid(false);
        }}
      />
      <button
        type="button"
        class="button square"
        aria-label={t(`clip.${name}Here`)}
        title={t(`clip.${name}Here`)}
        onClick={() => {
          set(formatTime(media.current?.currentTime ?? 0));
          setInvalid(false);
        }}
      >
        <Icon name="clock" />
      </button>
    </div>
  );
  return (
    <div class="clip">
      <button type="button" class="button plain small" aria-expanded={isOpen} aria-controls={id} onClick={open}>
        <Icon name="cut" />
        {t('clip.open')}
      </button>
      <form id={id} class="clip-form" hidden={!isOpen} onSubmit={download} noValidate>
        {field('start', start, setStart)}
        {field('end', end, setEnd)}
        <button type="submit" class="button primary">
          <Icon name="download" />
          <span>
            {t('clip.download')}
            {isValid && ` · ${format.clock(Math.round(endSeconds - startSeconds))}`}
          </span>
        </button>
        <p id={`${id}-problem`} class="clip-problem" role="alert">
          {isInvalid && t('clip.invalid')}
        </p>
      </form>
    </div>
  );
};
