import { useEffect } from 'preact/hooks';
import type { Outcome } from '../app-state.ts';
import { type Page, useObservable, usePage } from '../context.ts';
import { type FailureText, failureText } from '../failure-text.ts';

/** The polite live region of the page. */
export const Announcer = () => {
  const page = usePage();
  const outcome = useObservable(page.session.outcome);
  const said = useObservable(page.announcement);
  const waiting = outcome.phase === 'resolving' ? outcome.waiting?.reason : undefined;
  // Once per reason to wait, not every second.
  useEffect(() => page.announcement.set(describe(page, outcome)), [page.texts, outcome.phase, waiting]);
  return (
    <p class="visually-hidden" role="status">
      {said}
    </p>
  );
};

function describe({ texts }: Page, outcome: Outcome): string {
  const { t } = texts;
  switch (outcome.phase) {
    case 'idle':
      return '';
    case 'resolving':
      return outcome.waiting ? t(`waiting.${outcome.waiting.reason}`) : t('say.looking');
    case 'failed':
      return spoken(failureText(texts, outcome.failure, outcome.link));
    case 'batch':
      return t('say.foundList', { title: t('batch.title'), count: outcome.links.length });
    case 'resolved': {
      const { type, title, mediaItems } = outcome.resource;
      const items = mediaItems ?? [];
      const name = title ?? items[0]?.title ?? t('item.untitled');
      if (type === 'PlayList') return t('say.foundList', { title: name, count: items.length });
      const versions = items.flatMap(({ video, audio }) => [
        ...(video?.renditions ?? []),
        ...(audio?.renditions ?? []),
      ]);
      return t('say.found', { title: name, count: versions.length });
    }
  }
}

const spoken = ({ title, what }: FailureText): string => `${title}. ${what}`;
