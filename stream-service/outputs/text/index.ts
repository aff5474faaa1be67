export { createEmbeddedSubtitles, type EmbeddedSubtitles } from './embedded-subtitles.ts';
export { openText } from './open.ts';
export { planSubtitle, type SelectedSubtitle, selectSubtitle, type TextPlan } from './plan.ts';
