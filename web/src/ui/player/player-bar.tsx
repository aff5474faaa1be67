import type { RefObject } from 'preact';
import { usePage } from '../context.ts';
import { Icon, type IconName, Select } from '../controls/index.ts';
import { type Chapter, useDetails } from '../details/index.ts';
import { ChapterMenu, SeekBar } from './seek-bar.tsx';
import { useCast } from './use-cast.ts';
import { type MediaState, toggleFullscreen, togglePictureInPicture, togglePlay } from './use-media-state.ts';

export interface PlayerBarProps {
  readonly media: RefObject<HTMLMediaElement | null>;
  readonly state: MediaState;
  readonly isVideo: boolean;
  readonly canSeek: boolean;
  readonly isMini: boolean;
  /** The page that is played, whose chapters are shown. */
  readonly link: string | null;
  readonly onHelp: () => void;
}

/** In the place of those that are not known. */
const NO_CHAPTERS: readonly Chapter[] = [];
const SPEEDS = ['0.5', '0.75', '1', '1.25', '1.5', '1.75', '2'] as const;

/** Controls besides those of the media element, or in their place. */
export const PlayerBar = ({ media, state, isVideo, canSeek, isMini, link, onHelp }: PlayerBarProps) => {
  const { texts, format } = usePage();
  const { t } = texts;
  const { isPaused, isMuted, seconds } = state;
  const speed = SPEEDS.find((one) => Number(one) === state.speed) ?? '1';
  const setSpeed = (next: string) => {
    if (media.current) media.current.playbackRate = Number(next);
  };
  const cast = useCast(media);
  const { details } = useDetails(link, canSeek);
  const chapters = details?.chapters ?? NO_CHAPTERS;
  const storyboardKey = isVideo && !isMini ? details?.storyboardKey : null;
  const hasChapters = canSeek && chapters.length > 1;
  // The media element shows its own.
  const hasControls = canSeek && !isMini;
  const hasPictureInPicture = isVideo && document.pictureInPictureEnabled;
  return (
    <div class="player-bar">
      {hasControls && (hasChapters || storyboardKey) && <SeekBar {...{ media, state, chapters, storyboardKey }} />}
      {!hasControls && (
        <>
          <BarButton
            icon={isPaused ? 'play' : 'pause'}
            name={t(isPaused ? 'player.play' : 'player.pause')}
            onClick={() => togglePlay(media.current)}
          />
          <span class="figures">{format.clock(seconds)}</span>
          {canSeek && <SeekBar {...{ media, state, chapters }} />}
        </>
      )}
      {!hasControls && !isMini && (
        <>
          <BarButton
            icon={isMuted ? 'muted' : 'sound'}
            name={t(isMuted ? 'player.unmute' : 'player.mute')}
            onClick={() => {
              if (media.current) media.current.muted = !media.current.muted;
            }}
          />
          {isVideo && (
            <BarButton
              icon="fullscreen"
              name={t('player.fullscreen')}
              onClick={() => void toggleFullscreen(media.current)}
            />
          )}
          <span class="muted">{t('player.noSeek')}</span>
        </>
      )}
      {!isMini && hasChapters && <ChapterMenu {...{ media, state, chapters }} />}
      {!isMini && (
        <Select
          label={t('player.speed')}
          value={speed}
          options={SPEEDS}
          nameOf={(one) => `${format.number(Number(one))}×`}
          onChange={setSpeed}
        />
      )}
      {hasPictureInPicture && (
        <BarButton
          icon="mini"
          name={t('player.pictureInPicture')}
          onClick={() => void togglePictureInPicture(media.current)}
        />
      )}
      {cast && <BarButton icon="cast" name={t('player.cast')} onClick={cast} />}
      {!isMini && <BarButton icon="keys" name={t('keys.title')} onClick={onHelp} />}
    </div>
  );
};

interface BarButtonProps {
  readonly icon: IconName;
  readonly name: string;
  readonly onClick: () => void;
}

const BarButton = ({ icon, name, onClick }: BarButtonProps) => (
  <button type="button" class="button plain small square" aria-label={name} title={name} onClick={onClick}>
    <Icon name={icon} />
  </button>
);
