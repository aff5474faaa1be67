export { openStoryboard, type StoryboardDependencies } from './open.ts';
export { planStoryboard, type StoryboardPlan } from './plan.ts';
export { createStoryboards } from './storyboards.ts';
