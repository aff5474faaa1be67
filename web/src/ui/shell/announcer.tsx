import { useEffect } from 'preact/hooks';
import { type Page, useObservable, usePage } from '../context.ts';
import type { Outcome } from '../session.ts';

/** The polite live region of the page. */
export const Announcer = () => {
  const page = usePage();
  const outcome = useObservable(page.session.outcome);
  const said = useObservable(page.announcement);
  const text = describe(page, outcome);
  useEffect(() => {
    if (text !== undefined) page.announcement.set(text);
  }, [page.texts, outcome.phase, text === undefined]);
  return (
    <p class="visually-hidden" role="status">
      {said}
    </p>
  );
};

/** Undefined where a notice says it. */
function describe({ texts: { t } }: Page, outcome: Outcome): string | undefined {
  if (outcome.phase === 'idle') return '';
  if (outcome.phase === 'failed') return undefined;
  if (outcome.phase === 'resolving') return outcome.waiting ? undefined : t('say.looking');
  const { type, title, mediaItems } = outcome.resource;
  if (outcome.phase === 'batch') return t('say.foundList', { title: t('batch.title'), count: mediaItems.length });
  const name = title ?? mediaItems[0]?.title ?? t('item.untitled');
  return type === 'PlayList'
    ? t('say.foundList', { title: name, count: mediaItems.length })
    : t('say.found', { title: name });
}
