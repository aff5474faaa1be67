import { useEffect, useRef } from 'preact/hooks';
import { type Download, type DownloadState, hasEnded, progressOf } from '../../download/index.ts';
import { type Page, useObservable, usePage } from '../context.ts';
import { moveFocusFromRow, NextTry } from '../controls/index.ts';
import { streamFailureText } from '../failure-text.ts';
import { DownloadButtons } from './download-buttons.tsx';

export interface DownloadRowProps {
  readonly download: Download;
  readonly onRemove: () => void;
}

/** One download with its progress and buttons. */
export const DownloadRow = ({ download, onRemove }: DownloadRowProps) => {
  const page = usePage();
  const state = useObservable(download.state);
  const name = download.fileName;
  const { t } = page.texts;
  const { phase, failure } = state;
  const isOver = hasEnded(state);
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (state.isDismissed) onRemove();
  }, [state.isDismissed]);
  const remove = () => {
    moveFocusFromRow(row.current);
    onRemove();
  };
  return (
    <li class="download" ref={row} tabIndex={-1}>
      <p class="download-name" dir="auto" title={name}>
        {name}
      </p>
      <DownloadButtons download={download} state={state} onRemove={remove} />
      {!isOver && phase !== 'ready' && (
        <progress
          class={phase === 'paused' ? 'paused' : undefined}
          aria-label={t('downloads.progress', { name })}
          max={1}
          value={progressOf(state)}
        />
      )}
      <p class="download-figures">
        <span class={phase}>{statusText(page, state)}</span>
        <span>{progressText(page, state)}</span>
        {state.waiting && <NextTry waiting={state.waiting} />}
      </p>
      {failure && (
        <p class="download-reason">{streamFailureText(page.texts, { ...failure, canResume: state.canResume }).what}</p>
      )}
    </li>
  );
};

function statusText({ texts }: Page, { phase, waiting, failure, isHandedOver }: DownloadState): string {
  const { t } = texts;
  switch (phase) {
    case 'waiting':
      return waiting ? t(`waiting.${waiting.reason}`) : t('downloads.connecting');
    case 'failed':
      return failure ? streamFailureText(texts, failure).title : '';
    case 'done':
      return t(isHandedOver ? 'downloads.handedOver' : 'downloads.done');
    case 'running':
      return '';
    default:
      return t(`downloads.${phase}`);
  }
}

function progressText({ texts, format }: Page, state: DownloadState): string {
  const { t } = texts;
  const { phase, receivedBytes, totalBytes, entries, isEstimate, bytesPerSecond, secondsLeft, isHandedOver } = state;
  if (phase === 'ready' || phase === 'cancelled' || isHandedOver || (phase === 'failed' && !receivedBytes)) return '';
  const received = format.bytes(receivedBytes);
  if (phase === 'done') return received;
  const figures = [
    totalBytes === undefined
      ? received
      : t(isEstimate ? 'downloads.ofAbout' : 'downloads.of', { received, total: format.bytes(totalBytes) }),
  ];
  if (entries) figures.unshift(t('downloads.entries', { done: entries.done, total: entries.count }));
  if (phase === 'running' && bytesPerSecond > 0) figures.push(format.speed(bytesPerSecond));
  if (phase === 'running' && secondsLeft !== undefined)
    figures.push(t('downloads.left', { duration: format.duration(secondsLeft) }));
  return figures.join(' · ');
}
