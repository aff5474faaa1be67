import type { RefObject } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import type { ClipTimes } from '../api/index.ts';
import { formatTime, parseTime } from '../renditions/index.ts';
import { type Playback, usePage } from './context.ts';

interface TrimmerProps {
  readonly playback: Playback;
  readonly clip: ClipTimes;
  /** The element that plays it. */
  readonly media: RefObject<HTMLMediaElement | null>;
  readonly durationSeconds: number;
}

type End = keyof ClipTimes;
const NAMES = { startSeconds: 'clip.start', endSeconds: 'clip.end' } as const;
const EVENTS = ['play', 'timeupdate'];
const ENDS = Object.keys(NAMES) as readonly End[];

/** Selects the part of what is playing that is downloaded: two handles, and times beside them. */
export const Trimmer = ({ playback, clip, media, durationSeconds }: TrimmerProps) => {
  const { t, playback: player } = usePage();
  const id = useId();
  /** The end whose text is not a valid time: unreadable, beyond the other end, or beyond the duration. */
  const [invalid, setInvalid] = useState<End>();
  const maxSeconds = Math.max(1, Math.round(durationSeconds));
  const move = (end: End, seconds: number) => {
    player.current.set({ ...playback, clip: { ...clip, [end]: seconds } });
    if (media.current) media.current.currentTime = Math.min(seconds, durationSeconds);
  };
  const drag = (end: End, handle: HTMLInputElement, { startSeconds, endSeconds }: ClipTimes) => {
    const [least, most] =
      end === 'startSeconds' ? [0, Math.ceil(endSeconds) - 1] : [Math.floor(startSeconds) + 1, maxSeconds];
    const seconds = Math.min(Math.max(handle.valueAsNumber, least), most);
    handle.value = String(seconds);
    move(end, seconds);
  };
  const enter = (end: End, text: string) => {
    const seconds = parseTime(text);
    const next: ClipTimes = { ...clip, [end]: seconds };
    const isValid =
      seconds !== undefined && seconds <= Math.max(maxSeconds, durationSeconds) && next.startSeconds < next.endSeconds;
    setInvalid(isValid ? undefined : end);
    if (isValid) move(end, seconds);
  };
  // Playback stops at the end of the part, and starts again at its beginning.
  useEffect(() => {
    const { current } = media;
    const stay = ({ type }: Event) => {
      if (!current || current.paused || current.currentTime < clip.endSeconds) return;
      if (type === 'play') current.currentTime = clip.startSeconds;
      else current.pause();
    };
    for (const event of EVENTS) current?.addEventListener(event, stay);
    return () => {
      for (const event of EVENTS) current?.removeEventListener(event, stay);
    };
  }, [clip]);
  const share = (seconds: number) => `${(100 * Math.min(seconds, maxSeconds)) / maxSeconds}%`;
  return (
    <div class="trimmer">
      {/* Media run from left to right in every language. */}
      <div class="handles" dir="ltr" style={{ '--start': share(clip.startSeconds), '--end': share(clip.endSeconds) }}>
        {ENDS.map((end) => (
          <input
            key={end}
            type="range"
            min={0}
            max={maxSeconds}
            ref={showing(String(clip[end]))}
            aria-label={t(NAMES[end])}
            aria-valuetext={formatTime(clip[end])}
            onInput={({ currentTarget }) => drag(end, currentTarget, clip)}
          />
        ))}
      </div>
      <div class="times">
        {ENDS.map((end) => (
          <label key={end} class="labelled-control">
            {t(NAMES[end])}
            <input
              type="text"
              class="text-field figures"
              dir="ltr"
              autocomplete="off"
              spellcheck={false}
              size={9}
              ref={showing(formatTime(clip[end]))}
              aria-invalid={invalid === end}
              aria-describedby={invalid === end ? `${id}-problem` : undefined}
              onInput={({ currentTarget }) => enter(end, currentTarget.value)}
              onBlur={() => setInvalid(undefined)}
            />
          </label>
        ))}
        <p id={`${id}-problem`} class="error-text" role="alert">
          {invalid && t('clip.invalid')}
        </p>
      </div>
    </div>
  );
};

/** Sets a value, except while the visitor edits the input: rendering lags behind what is typed. */
const showing = (value: string) => (input: HTMLInputElement | null) => {
  if (input && input !== document.activeElement) input.value = value;
};
