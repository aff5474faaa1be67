export { openWindow, type WindowDependencies } from './open.ts';
export { planWindow, requireLive, type WindowPlan } from './plan.ts';
export { type LivePlan, openLive, planLive } from './presentation.ts';
