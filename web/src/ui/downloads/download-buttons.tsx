import { useRef } from 'preact/hooks';
import { type Download, type DownloadState, hasEnded } from '../../download/index.ts';
import type { TextKey } from '../../lib/index.ts';
import { usePage } from '../context.ts';
import { Icon, type IconName, useFocusFallback } from '../controls/index.ts';

export interface DownloadButtonsProps {
  readonly download: Download;
  readonly state: DownloadState;
  readonly onRemove: () => void;
}

/** Buttons of one download. */
export const DownloadButtons = ({ download, state, onRemove }: DownloadButtonsProps) => {
  const { texts, downloads } = usePage();
  const { t } = texts;
  const all = useRef<HTMLDivElement>(null);
  useFocusFallback(all, () => all.current?.lastElementChild);
  const name = download.fileName;
  const holding = pauseActionOf(download, state);
  return (
    <div class="download-buttons" ref={all}>
      {holding && (
        <IconButton
          key="hold"
          icon={holding.icon}
          name={t(holding.text, { name })}
          isDisabled={holding.isDisabled}
          onClick={holding.act}
        />
      )}
      {state.phase === 'ready' && (
        <>
          <IconButton
            key="up"
            icon="less"
            name={t('downloads.moveUp', { name })}
            onClick={() => downloads.move(download, -1)}
          />
          <IconButton
            key="down"
            icon="all"
            name={t('downloads.moveDown', { name })}
            onClick={() => downloads.move(download, 1)}
          />
        </>
      )}
      {state.canStopAndSave && (
        <IconButton key="keep" icon="stop" name={t('downloads.keep', { name })} onClick={download.stopAndSave} />
      )}
      {hasEnded(state) ? (
        <IconButton key="end" icon="close" name={t('downloads.remove', { name })} onClick={onRemove} />
      ) : (
        <IconButton key="end" icon="close" name={t('downloads.cancel', { name })} onClick={download.cancel} />
      )}
    </div>
  );
};

interface PauseAction {
  readonly icon: IconName;
  readonly text: TextKey;
  readonly isDisabled?: boolean;
  readonly act: () => void;
}

/** One button for pause, resume and retry, so that it keeps the focus. */
function pauseActionOf({ pause, resume }: Download, state: DownloadState): PauseAction | undefined {
  const { phase, receivedBytes, canResume, canRetry } = state;
  if (phase === 'paused') return { icon: 'play', text: 'downloads.resume', act: resume };
  if (phase === 'failed' && canRetry) return { icon: 'retry', text: 'downloads.retry', act: resume };
  if (phase !== 'running' && phase !== 'waiting') return undefined;
  // Nothing to pause before the first byte.
  const isDisabled = phase === 'waiting' && receivedBytes === 0 && !canResume;
  return { icon: 'pause', text: 'downloads.pause', act: pause, isDisabled };
}

interface IconButtonProps {
  readonly icon: IconName;
  readonly name: string;
  /** Sets aria-disabled, so that it keeps the focus. */
  readonly isDisabled?: boolean | undefined;
  readonly onClick: () => void;
}

const IconButton = ({ icon, name, isDisabled = false, onClick }: IconButtonProps) => (
  <button
    type="button"
    class="button plain small square"
    aria-label={name}
    aria-disabled={isDisabled}
    title={name}
    onClick={() => !isDisabled && onClick()}
  >
    <Icon name={icon} />
  </button>
);
