import type { RefObject } from 'preact';
import { ALL_LANGUAGES, type Choice } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Icon, type IconName, Select } from '../controls/index.ts';
import { type Chapter, useDetails, versionName } from '../details/index.ts';
import type { Playback } from '../playback.ts';
import { listsTracks } from '../ranges/index.ts';
import { ChapterMenu, SeekBar } from './seek-bar.tsx';
import { useCast } from './use-cast.ts';
import { type MediaState, toggleFullscreen, togglePictureInPicture, togglePlay } from './use-media-state.ts';

export interface PlayerBarProps {
  readonly media: RefObject<HTMLMediaElement | null>;
  readonly state: MediaState;
  readonly isVideo: boolean;
  readonly canSeek: boolean;
  readonly isMini: boolean;
  readonly playback: Playback;
  readonly onHelp: () => void;
  readonly onVersion: (version: Choice) => void;
}

/** In the place of those that are not known. */
const NO_CHAPTERS: readonly Chapter[] = [];
const SPEEDS = ['0.5', '0.75', '1', '1.25', '1.5', '1.75', '2'] as const;

/** Controls besides those of the media element, or in their place. */
export const PlayerBar = (props: PlayerBarProps) => {
  const { playback, media, state, isVideo, canSeek, isMini, onHelp, onVersion } = props;
  const { texts, format } = usePage();
  const { t } = texts;
  const { isPaused, isMuted, seconds } = state;
  const speed = SPEEDS.find((one) => Number(one) === state.speed) ?? '1';
  const setSpeed = (next: string) => {
    if (media.current) media.current.playbackRate = Number(next);
  };
  const cast = useCast(media);
  const { details } = useDetails(playback.link, canSeek);
  const chapters = details?.chapters ?? NO_CHAPTERS;
  const hasChapters = canSeek && chapters.length > 1;
  // The media element shows its own.
  const hasControls = canSeek && !isMini;
  const hasPictureInPicture = isVideo && document.pictureInPictureEnabled;
  return (
    <div class="row player-bar">
      {hasControls && hasChapters && <SeekBar media={media} state={state} chapters={chapters} />}
      {!hasControls && (
        <>
          <BarButton
            icon={isPaused ? 'play' : 'pause'}
            name={t(isPaused ? 'player.play' : 'player.pause')}
            onClick={() => togglePlay(media.current)}
          />
          <span class="figures">{format.clock(seconds)}</span>
          {canSeek && <SeekBar media={media} state={state} chapters={chapters} />}
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
      {!isMini && hasChapters && <ChapterMenu media={media} state={state} chapters={chapters} />}
      {!isMini && <VersionMenu playback={playback} onVersion={onVersion} />}
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

/** The languages of the audio. */
const VersionMenu = ({ playback, onVersion }: Pick<PlayerBarProps, 'playback' | 'onVersion'>) => {
  const { texts } = usePage();
  const { choice } = playback;
  // Without a menu of tracks, what has all of them plays as the original.
  const versions = playback.versions.filter(({ audio }) => audio !== ALL_LANGUAGES || listsTracks());
  if (versions.length < 2) return null;
  const hasDubs = versions.some(({ version }) => version?.isDubbed);
  const find = (id: string) => versions.find((one) => one.id === id) ?? versions[0];
  return (
    <Select
      label={texts.t('menu.version')}
      value={find(choice.id)?.id ?? ''}
      options={versions.map(({ id }) => id)}
      nameOf={(id) => versionName(find(id)?.version, hasDubs, texts)}
      onChange={(id) => onVersion(find(id) ?? choice)}
    />
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
