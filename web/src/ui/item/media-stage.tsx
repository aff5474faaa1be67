import { useEffect, useRef } from 'preact/hooks';
import type { Choice } from '../../renditions/index.ts';
import { isClippable } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Cover, Icon, useLazy } from '../controls/index.ts';
import { Player } from './player.tsx';

export interface MediaStageProps {
  readonly title: string;
  readonly author: string | null;
  readonly coverUrl: string | null;
  readonly isAudio: boolean;
  /** The choice being played. */
  readonly playing: Choice | undefined;
  /** Absent without renditions. */
  readonly onPlay: (() => void) | undefined;
  readonly onClose: () => void;
}

/** The cover, or the player in its place. */
export const MediaStage = ({ title, author, coverUrl, isAudio, playing, onPlay, onClose }: MediaStageProps) => {
  const { t } = usePage().texts;
  const play = useRef<HTMLButtonElement>(null);
  const media = useRef<HTMLVideoElement & HTMLAudioElement>(null);
  const hasPlayed = useRef(false);
  const isOffered = playing !== undefined && isClippable(playing);
  const { loaded: ClipEditor } = useLazy(loadClipEditor, isOffered);
  useEffect(() => {
    // Closing the player returns the focus to the button that opened it.
    if (!playing && hasPlayed.current) play.current?.focus({ preventScroll: true });
    hasPlayed.current = playing !== undefined;
  }, [playing]);

  if (playing) {
    return (
      <>
        <div class="media-stage playing">
          <Player key={playing.id} choice={playing} {...{ title, author, coverUrl, media, onClose }} />
        </div>
        {isOffered && ClipEditor && <ClipEditor key={playing.id} choice={playing} media={media} />}
      </>
    );
  }
  return (
    <div class="media-stage">
      <Cover url={coverUrl} fallback={isAudio ? 'music' : 'cover'} isWhole={isAudio} />
      {onPlay && (
        <button
          ref={play}
          type="button"
          class="media-play"
          aria-label={t('action.playNamed', { title })}
          onClick={onPlay}
        >
          <span>
            <Icon name="play" />
          </span>
        </button>
      )}
    </div>
  );
};

const loadClipEditor = async () => (await import('../player/index.ts')).ClipEditor;
