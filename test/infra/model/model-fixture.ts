import { afterAll } from 'vitest';
import { installMissingTools, updateTools } from '../../../lambdas/tools-update/update-tools.ts';
import { PINNED_RELEASE } from '../deployment-settings.ts';
import type { Template } from '../permissions.ts';
import { expectWorkingStack, type StackStatus, startHost } from './checks.ts';
import { CloudFormation, type Step } from './cloudformation.ts';
import { createCustomResources } from './custom-resources.ts';
import { createScriptedClients } from './scripted-aws.ts';
import { createToolsFixture, environmentOf } from './tools-fixture.ts';
import { copyWorld, createWorld, type World } from './world.ts';

/** The release that is the newest one when a stack is first deployed. */
export const FIRST_RELEASE = PINNED_RELEASE;

/** CloudFormation and the functions of the stack over one world at a time. */
export function createModelFixture() {
  let current: World = createWorld(undefined);
  const clients = createScriptedClients(() => current);
  const customResources = createCustomResources(() => current, clients);
  afterAll(() => customResources.close());

  const cloudFormation = (world: World, isReversed = false): CloudFormation => {
    current = world;
    return new CloudFormation(world, { customResources, isReversed });
  };
  /** Runs work on a copy of a world. */
  const onCopy = async <T>(world: World, work: (copy: World) => Promise<T>): Promise<T> => {
    const former = current;
    current = copyWorld(world);
    try {
      return await work(current);
    } finally {
      current = former;
    }
  };
  /** Asserts that the stack of a copy works. */
  const expectWorking = (copy: World): Promise<StackStatus> => expectWorkingStack(copy, clients);
  /** Asserts on a copy that the stack works: the check itself wakes an on-demand host. */
  const check = (world: World): Promise<StackStatus> => onCopy(world, expectWorking);
  const start = (world: World) => {
    current = world;
    return startHost(world, clients);
  };
  const toolsOf = (world: World) => {
    current = world;
    const found = Object.values(world.resources).find(
      ({ type, properties }) => type === 'AWS::Lambda::Function' && properties.Description === 'Reelay update-tools',
    );
    if (!found) throw new Error('No update function');
    return createToolsFixture(() => current, clients, environmentOf(found));
  };
  const { signal } = new AbortController();

  return {
    cloudFormation,
    check,
    expectWorking,
    start,
    /** One run of the scheduled update. */
    update: (world: World) => updateTools(toolsOf(world), signal),
    /** One run of the schedule that installs missing tools. */
    installMissing: (world: World) => installMissingTools(toolsOf(world), signal),
    /** A world with a stack that has served: an on-demand host has a running task. */
    async deployed(template: Template, isReversed = false): Promise<World> {
      const world = createWorld(FIRST_RELEASE);
      await cloudFormation(world, isReversed).deploy(template as never);
      if ((await check(world)).streamHost === 'on demand') await start(world);
      return world;
    },
    /**
     * Deploys a template, and fails the deployment at each step in a copy of the world, which is rolled back.
     * @returns the number of failures
     */
    async failEverywhere(world: World, to: Template, verify: (copy: World) => Promise<unknown>): Promise<number> {
      const stack = cloudFormation(world);
      let failures = 0;
      stack.onStep = async (step) => {
        // The stack is complete then: what cannot be deleted stays behind, and the deployment succeeds.
        if (step.action === 'delete') return;
        failures += 1;
        await onCopy(world, async (copy) => {
          try {
            await new CloudFormation(copy, { customResources }).rollBack();
            await verify(copy);
          } catch (cause) {
            throw new Error(`Failed ${describeStep(step)}`, { cause });
          }
        });
      };
      await stack.deploy(to as never);
      return failures;
    },
    /** Deletes the stack, and fails the deletion at each step in a copy of the world, where it is repeated. */
    async destroyEverywhere(world: World, verify: (copy: World) => void): Promise<void> {
      const stack = cloudFormation(world);
      stack.onStep = (step) =>
        onCopy(world, async (copy) => {
          try {
            await new CloudFormation(copy, { customResources }).destroy();
            verify(copy);
          } catch (cause) {
            throw new Error(`Failed ${describeStep(step)}`, { cause });
          }
        });
      await stack.destroy();
    },
  };
}

const describeStep = ({ action, when, logicalId }: Step): string => `${when} ${action} of ${logicalId}`;
