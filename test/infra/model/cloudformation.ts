import { checkCreation, checkDeletion, Refused } from './account-rules.ts';
import type { CustomResources } from './custom-resources.ts';
import { dependencyOrder, resolve } from './intrinsics.ts';
import { REPLACING_PROPERTIES } from './resource-types.ts';
import { placeServiceTasks, stopServiceTasks } from './service-tasks.ts';
import { EMPTY_STACK, jsonOf, type ModelResource, type ModelTemplate, type StackState, type World } from './world.ts';

/** A point at which a deployment can fail. `after`: the change took effect, but its outcome counts as a failure. */
export interface Step {
  readonly action: 'create' | 'change' | 'delete';
  readonly when: 'before' | 'after';
  readonly logicalId: string;
  readonly type: string;
}

interface CloudFormationOptions {
  readonly customResources: CustomResources;
  /** Takes independent resources in the reverse of the template's order. @default false */
  readonly isReversed?: boolean;
  /** Called at every step of a deployment or deletion; a copy of the world taken here can be failed by `rollBack`. */
  readonly onStep?: (step: Step) => Promise<void>;
}

const ACCOUNT = '111111111111';
const PSEUDO: Readonly<Record<string, unknown>> = {
  'AWS::Region': 'us-east-1',
  'AWS::AccountId': ACCOUNT,
  'AWS::Partition': 'aws',
  'AWS::StackName': 'reelay-main',
  'AWS::StackId': 'stack-id',
  'AWS::URLSuffix': 'amazonaws.com',
};
const NAME_PROPERTIES = ['AWS::Lambda::Function FunctionName'];

/** CloudFormation for one stack of one account. `world` may be exchanged between steps. */
export class CloudFormation {
  world: World;
  readonly #customResources: CustomResources;
  readonly #isReversed: boolean;
  onStep: CloudFormationOptions['onStep'];

  constructor(world: World, { customResources, isReversed = false, onStep }: CloudFormationOptions) {
    this.world = world;
    this.#customResources = customResources;
    this.#isReversed = isReversed;
    this.onStep = onStep;
  }

  /** Creates or updates the stack, then deletes what the template no longer has. @throws the first error, without a rollback */
  async deploy(template: ModelTemplate): Promise<void> {
    const former = this.world.stack;
    this.world.progress = { former, template, touched: [] };
    const isKept = ([id]: [string, string]) => template.Resources[id] !== undefined;
    this.world.stack = { template, resources: Object.fromEntries(Object.entries(former.resources).filter(isKept)) };
    for (const id of this.#order(template)) await this.#put(id, template);
    await this.#cleanUp(former, this.world.stack);
    this.world.progress = undefined;
  }

  /** Undoes the deployment in progress: former properties, former resources, then deletes what it created. */
  async rollBack(): Promise<void> {
    const { progress, stack: failed } = this.world;
    if (!progress) throw new Error('No deployment to roll back');
    const { former, touched } = progress;
    this.onStep = undefined;
    // Both templates name resources that exist now: what was replaced is the former resource again.
    this.world.stack = { template: former.template, resources: { ...former.resources } };
    const changed = new Map(touched.map(({ id, kind }) => [id, kind]));
    for (const id of this.#order(former.template)) {
      const key = failed.resources[id];
      // A custom resource decides by its answer whether it is replaced: the former properties go to the one it has now.
      if (changed.get(id) === 'replaced' && this.#isCustom(id, former.template) && key)
        this.world.stack.resources[id] = key;
      if (changed.has(id)) await this.#change(id, former.template);
    }
    await this.#cleanUp(failed, this.world.stack);
    this.world.progress = undefined;
  }

  /** Deletes the stack. After an error, call it again to continue. */
  async destroy(): Promise<void> {
    await this.#cleanUp(this.world.stack, EMPTY_STACK);
    this.world.stack = EMPTY_STACK;
  }

  #order(template: ModelTemplate): readonly string[] {
    return dependencyOrder(template, this.#isReversed);
  }

  #isCustom(id: string, { Resources }: ModelTemplate): boolean {
    return Resources[id]?.Type.startsWith('Custom::') ?? false;
  }

  async #put(id: string, template: ModelTemplate): Promise<void> {
    const existing = this.#resourceOf(id);
    if (!existing) {
      await this.#step('create', 'before', id, template);
      this.world.progress?.touched.push({ id, kind: 'created' });
      await this.#create(id, template);
      if (this.#isCustom(id, template)) await this.#step('create', 'after', id, template);
      return;
    }
    if (existing.type !== template.Resources[id]?.Type) throw new Refused(`${id}: a resource cannot change its type`);
    const properties = this.#properties(id, template);
    if (jsonOf(existing.properties) === jsonOf(properties)) return;
    await this.#step('change', 'before', id, template);
    const kind = this.#isReplaced(existing, properties) ? 'replaced' : 'changed';
    this.world.progress?.touched.push({ id, kind });
    await this.#change(id, template);
    const isNow = this.world.stack.resources[id] === existing.key ? kind : 'replaced';
    this.world.progress?.touched.splice(-1, 1, { id, kind: isNow });
    if (this.#isCustom(id, template)) await this.#step('change', 'after', id, template);
  }

  async #step(action: Step['action'], when: Step['when'], logicalId: string, template: ModelTemplate): Promise<void> {
    await this.onStep?.({ action, when, logicalId, type: template.Resources[logicalId]?.Type ?? '' });
  }

  #isReplaced({ type, properties }: ModelResource, next: Readonly<Record<string, unknown>>): boolean {
    if (type.startsWith('Custom::')) return false;
    const replacing = REPLACING_PROPERTIES[type];
    if (!replacing) throw new Error(`The model has no ${type}`);
    return replacing.some((name) => JSON.stringify(properties[name]) !== JSON.stringify(next[name]));
  }

  async #create(id: string, template: ModelTemplate): Promise<void> {
    const type = template.Resources[id]?.Type ?? '';
    const properties = this.#properties(id, template);
    const key = `${id}#${++this.world.counter}`;
    const given = NAME_PROPERTIES.includes(`${type} FunctionName`) ? properties.FunctionName : undefined;
    const resource: ModelResource = {
      key,
      type,
      logicalId: id,
      properties,
      attributes: {},
      physicalId: String(given ?? `${id}~${this.world.counter}.`),
    };
    checkCreation(this.world, resource);
    if (type.startsWith('Custom::')) {
      // Known to the stack at once: a creation that fails is followed by a deletion.
      this.#place(resource);
      const answer = await this.#customResources.request({ type, kind: 'Create', logicalId: id, properties });
      Object.assign(resource, answer);
    }
    this.#place(resource);
    if (type === 'AWS::Lambda::Function')
      this.world.functions[key] = { layers: [], revision: 1, versions: [], aliases: {}, provisioned: {} };
    if (type === 'AWS::ECS::Service') placeServiceTasks(this.world, resource);
  }

  /** Gives a resource the properties of a template, in place or by a replacement. */
  async #change(id: string, template: ModelTemplate): Promise<void> {
    const existing = this.#resourceOf(id);
    if (!existing) throw new Error(`${id} is gone`);
    const properties = this.#properties(id, template);
    if (jsonOf(existing.properties) === jsonOf(properties)) return;
    if (this.#isReplaced(existing, properties)) return this.#create(id, template);
    const { type } = existing;
    const updated = { ...existing, properties };
    if (type.startsWith('Custom::')) {
      const { physicalId } = existing;
      // In force before the answer: a request that fails is rolled back like one that succeeds.
      this.#place(updated);
      const answer = await this.#customResources.request({
        type,
        kind: 'Update',
        logicalId: id,
        properties,
        physicalId,
      });
      if (answer.physicalId === physicalId) return this.#place({ ...updated, ...answer });
      this.#place(existing);
      // A rollback that answers the former id returns to the former resource.
      const former = Object.values(this.world.resources).find(
        (other) => other.logicalId === id && other.physicalId === answer.physicalId,
      );
      return this.#place({ ...updated, ...answer, key: former?.key ?? `${id}#${++this.world.counter}` });
    }
    checkCreation(this.world, updated);
    this.#place(updated);
    const found = this.world.functions[existing.key];
    if (found) found.revision += 1;
    if (type === 'AWS::ECS::Service') placeServiceTasks(this.world, updated);
  }

  #place(resource: ModelResource): void {
    this.world.resources[resource.key] = resource;
    this.world.stack.resources[resource.logicalId] = resource.key;
  }

  /** Deletes the resources of one state of the stack that another does not have, dependents first. */
  async #cleanUp(of: StackState, kept: StackState): Promise<void> {
    const keys = new Set(Object.values(kept.resources));
    for (const id of this.#order(of.template).toReversed()) {
      const resource = this.world.resources[of.resources[id] ?? ''];
      if (!resource || keys.has(resource.key)) continue;
      await this.#step('delete', 'before', id, of.template);
      await this.#delete(resource);
      if (resource.type.startsWith('Custom::')) await this.#step('delete', 'after', id, of.template);
    }
  }

  async #delete(resource: ModelResource): Promise<void> {
    const { type, key, logicalId, properties, physicalId } = resource;
    checkDeletion(this.world, resource);
    if (type.startsWith('Custom::'))
      await this.#customResources.request({ type, kind: 'Delete', logicalId, properties, physicalId });
    if (type === 'AWS::ECS::Service') stopServiceTasks(this.world, resource);
    delete this.world.resources[key];
    for (const content of [this.world.functions, this.world.buckets, this.world.tables, this.world.keyValueStores])
      delete content[key];
  }

  #resourceOf(id: string): ModelResource | undefined {
    return this.world.resources[this.world.stack.resources[id] ?? ''];
  }

  #properties(id: string, template: ModelTemplate): Readonly<Record<string, unknown>> {
    const require = (name: string): ModelResource => {
      const found = this.#resourceOf(name);
      if (!found) throw new Error(`${id} refers to ${name}, which does not exist`);
      return found;
    };
    return resolve(template.Resources[id]?.Properties ?? {}, {
      ref: (name) => PSEUDO[name] ?? require(name).physicalId,
      attribute: (name, attribute) => {
        const { attributes, physicalId, type, properties } = require(name);
        if (type.startsWith('Custom::')) {
          if (attributes[attribute] === undefined) throw new Error(`${name} has no ${attribute}`);
          return attributes[attribute];
        }
        if (attribute === 'ApiEndpoint') return `https://${physicalId}example`;
        if (attribute === 'FunctionArn') return properties.TargetFunctionArn;
        if (attribute === 'FunctionUrl') return `https://${physicalId}example/`;
        return attribute === 'Arn' ? `arn:aws:any:us-east-1:${ACCOUNT}:${physicalId}` : `${attribute} of ${physicalId}`;
      },
    }) as Readonly<Record<string, unknown>>;
  }
}
