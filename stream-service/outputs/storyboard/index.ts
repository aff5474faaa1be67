export { openStoryboard, type StoryboardDependencies } from './open.ts';
export { isOfStoryboard, planStoryboard, type StoryboardPlan } from './plan.ts';
export { createStoryboards } from './storyboards.ts';
