import { usePage } from '../context.ts';
import { Header } from './header.tsx';
import { Notice } from './notices.tsx';

/** Asks whether to use the instance that a link to this page names: links and downloads would go through it. */
export const ProposedInstance = ({ host }: { readonly host: string }) => {
  const { texts, answerProposal } = usePage();
  const { t } = texts;
  return (
    <div class="page">
      <Header isMoving={false} />
      <main class="wrap">
        <div class="hero small">
          <h1>{t('app.headline')}</h1>
        </div>
        <Notice look="waiting" icon="lock" title={t('proposal.title', { host })}>
          <p>{t('proposal.what')}</p>
          <div class="row notice-actions">
            <button type="button" class="button" onClick={() => answerProposal('no')}>
              {t('proposal.no')}
            </button>
            <button type="button" class="link" onClick={() => answerProposal('once')}>
              {t('proposal.once')}
            </button>
            <button type="button" class="link" onClick={() => answerProposal('always')}>
              {t('proposal.always')}
            </button>
          </div>
        </Notice>
      </main>
    </div>
  );
};
