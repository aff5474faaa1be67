import '../../styles/trimmer.css';
import type { RefObject } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { ClipTimes } from '../../api/index.ts';
import { formatTime, parseTime } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Icon } from '../controls/index.ts';
import type { Playback } from '../playback.ts';

export interface TrimmerProps {
  readonly playback: Playback;
  /** The element that plays it. */
  readonly media: RefObject<HTMLMediaElement | null>;
  readonly durationSeconds: number;
}

type End = keyof ClipTimes;
const ENDS: readonly End[] = ['startSeconds', 'endSeconds'];

/** Selects the part of what is playing that is downloaded: two handles, and times beside them. */
export const Trimmer = ({ playback, media, durationSeconds }: TrimmerProps) => {
  const { texts, playback: player } = usePage();
  const { t } = texts;
  const id = useId();
  const { clip } = playback;
  // A part may end later than the media.
  const maxSeconds = Math.ceil(durationSeconds);
  const set = (next: ClipTimes | undefined) => player.current.set({ ...playback, clip: next });
  const move = (end: End, seconds: number) => {
    if (!clip) return;
    set({ ...clip, [end]: seconds });
    if (media.current) media.current.currentTime = Math.min(seconds, durationSeconds);
  };
  const share = (seconds: number) => `${(100 * Math.min(seconds, maxSeconds)) / maxSeconds}%`;
  return (
    <div class="trimmer">
      <button
        type="button"
        class="button plain small"
        aria-expanded={clip !== undefined}
        aria-controls={id}
        onClick={() => set(clip ? undefined : { startSeconds: 0, endSeconds: maxSeconds })}
      >
        <Icon name="cut" />
        {t('clip.open')}
      </button>
      <div id={id} hidden={!clip}>
        {clip && (
          <>
            {/* Media run from left to right in every language. */}
            <div
              class="handles"
              dir="ltr"
              style={{ '--start': share(clip.startSeconds), '--end': share(clip.endSeconds) }}
            >
              {ENDS.map((end) => (
                <input
                  key={end}
                  type="range"
                  min={0}
                  max={maxSeconds}
                  ref={(input) => {
                    // What the visitor is moving is ahead of the state, which is rendered later.
                    if (input && input !== document.activeElement) input.value = String(clip[end]);
                  }}
                  aria-label={t(NAMES[end])}
                  aria-valuetext={formatTime(clip[end])}
                  onInput={({ currentTarget }) => {
                    const seconds = Math.round(currentTarget.valueAsNumber);
                    const isStart = end === 'startSeconds';
                    const bounded = isStart
                      ? Math.min(seconds, Math.ceil(clip.endSeconds) - 1)
                      : Math.max(seconds, Math.floor(clip.startSeconds) + 1);
                    currentTarget.value = String(bounded);
                    move(end, bounded);
                  }}
                />
              ))}
            </div>
            <div class="times">
              {ENDS.map((end) => (
                <Time key={end} {...{ clip, end, maxSeconds }} onChange={(seconds) => move(end, seconds)} />
              ))}
            </div>
          </>
        )}
      </div>
    </div>
  );
};

const NAMES = { startSeconds: 'clip.start', endSeconds: 'clip.end' } as const;

interface TimeProps {
  readonly clip: ClipTimes;
  readonly end: End;
  readonly maxSeconds: number;
  readonly onChange: (seconds: number) => void;
}

/** One end as text, with fractions of a second where the visitor enters them. */
const Time = ({ clip, end, maxSeconds, onChange }: TimeProps) => {
  const { t } = usePage().texts;
  const id = useId();
  /** What is being entered. */
  const [text, setText] = useState<string>();
  const isInvalid = text !== undefined && secondsOf(text, clip, end, maxSeconds) === undefined;
  return (
    <>
      <label class="labelled-control">
        {t(NAMES[end])}
        <input
          type="text"
          dir="ltr"
          autocomplete="off"
          spellcheck={false}
          size={9}
          value={text ?? formatTime(clip[end])}
          aria-invalid={isInvalid}
          aria-describedby={isInvalid ? id : undefined}
          onInput={({ currentTarget: { value } }) => {
            setText(value);
            const seconds = secondsOf(value, clip, end, maxSeconds);
            if (seconds !== undefined) onChange(seconds);
          }}
          onBlur={() => !isInvalid && setText(undefined)}
        />
      </label>
      <p id={id} class="error-text" role="alert">
        {isInvalid && t('clip.invalid')}
      </p>
    </>
  );
};

/** Undefined for what is no time, or not between the other end and that of the media. */
function secondsOf(text: string, clip: ClipTimes, end: End, maxSeconds: number): number | undefined {
  const seconds = parseTime(text);
  if (seconds === undefined || seconds > maxSeconds) return undefined;
  const isInOrder = end === 'startSeconds' ? seconds < clip.endSeconds : seconds > clip.startSeconds;
  return isInOrder ? seconds : undefined;
}
