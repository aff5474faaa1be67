export { createEmbeddedSubtitles, type EmbeddedSubtitles } from './embedded-subtitles.ts';
export { openText } from './open.ts';
export { planSubtitle, type TextPlan } from './plan.ts';
export { type SelectedSubtitle, selectSubtitle } from './select-subtitle.ts';
