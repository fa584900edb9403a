#include "mib_table.h"

#include "os.h"

bool hearth_mib_table_create(hearth_mib_table *table, uint32_t count) {
  size_t size = ((size_t)count * sizeof *table->mibs + HEARTH_OS_PAGE - 1) & ~(HEARTH_OS_PAGE - 1);

  *table = (hearth_mib_table){.mibs = hearth_os_map(size), .count = count};
  if (!table->mibs)
    return false;
  hearth_os_mark_sparse(table->mibs, size);
  return true;
}

hearth_mib hearth_mib_of_block(const hearth_block *block, hearth_access_sum accesses, hearth_moment end) {
  uint64_t lifetime = end.ns > block->alloc_ns ? end.ns - block->alloc_ns : 0;
  uint64_t lifetime_ms = lifetime / 1000000;
  uint64_t density = accesses.accesses * 100 / (block->size ? block->size : 1);
  uint64_t lifetime_density = density * 1000 / (lifetime_ms ? lifetime_ms : 1);
  uint64_t percent = accesses.touched * 100 / accesses.granules;

  return (hearth_mib){{
      .AllocCount = 1,
      .MinSize = block->size,
      .MaxSize = block->size,
      .MinAccessCount = accesses.accesses,
      .MaxAccessCount = accesses.accesses,
      .MinLifetime = lifetime,
      .MaxLifetime = lifetime,
      .NumMigration = block->cpu != end.cpu,
      .TotalSize = block->size,
      .TotalAccessCount = accesses.accesses,
      .TotalLifetime = lifetime,
      .TotalPercentUtilized = percent,
      .MinPercentUtilized = percent,
      .MaxPercentUtilized = percent,
      .AllocTimestamp = block->alloc_ns,
      .DeallocTimestamp = end.ns,
      .AllocCPU = block->cpu,
      .DeallocCPU = end.cpu,
      .DataTypeId = block->data_type_id,
      .TotalAccessDensity = density,
      .MinAccessDensity = density,
      .MaxAccessDensity = density,
      .TotalLifetimeAccessDensity = lifetime_density,
      .MinLifetimeAccessDensity = lifetime_density,
      .MaxLifetimeAccessDensity = lifetime_density,
  }};
}

void hearth_mib_follow(hearth_mib *into, const hearth_mib *one) {
  if (into->AllocCount > 0) {
    into->NumLifetimeOverlaps += one->AllocTimestamp < into->DeallocTimestamp;
    into->NumSameAllocCPU += one->AllocCPU == into->AllocCPU;
    into->NumSameDeallocCPU += one->DeallocCPU == into->DeallocCPU;
  }
  hearth_mib_merge(into, one);
  into->AllocTimestamp = one->AllocTimestamp;
  into->DeallocTimestamp = one->DeallocTimestamp;
  into->AllocCPU = one->AllocCPU;
  into->DeallocCPU = one->DeallocCPU;
}

static hearth_lock *lock_of(hearth_mib_table *table, uint32_t context) {
  return &table->locks[context % HEARTH_MIB_LOCKS];
}

void hearth_mib_table_record(hearth_mib_table *table, uint32_t context, const hearth_mib *one) {
  if (context >= table->count)
    return;
  hearth_lock_take(lock_of(table, context));
  hearth_mib_follow(&table->mibs[context], one);
  hearth_lock_give(lock_of(table, context));
}

void hearth_mib_table_copy(hearth_mib_table *table, hearth_mib *to, uint32_t count) {
  for (uint32_t context = 0; context < count; ++context) {
    hearth_lock_take(lock_of(table, context));
    to[context] = table->mibs[context];
    hearth_lock_give(lock_of(table, context));
  }
}

void hearth_mib_table_reset(hearth_mib_table *table, uint32_t count) {
  for (uint32_t context = 0; context < count; ++context) {
    hearth_lock_take(lock_of(table, context));
    table->mibs[context] = (hearth_mib){0};
    hearth_lock_give(lock_of(table, context));
  }
}

void hearth_mib_table_forget(hearth_mib_table *table, uint32_t count) {
  size_t size = ((size_t)count * sizeof *table->mibs + HEARTH_OS_PAGE - 1) & ~(HEARTH_OS_PAGE - 1);

  hearth_os_discard(table->mibs, size);
}

void hearth_mib_table_lock(hearth_mib_table *table) {
  for (unsigned i = 0; i < HEARTH_MIB_LOCKS; ++i)
    hearth_lock_take(&table->locks[i]);
}

void hearth_mib_table_unlock(hearth_mib_table *table) {
  for (unsigned i = HEARTH_MIB_LOCKS; i-- > 0;)
    hearth_lock_give(&table->locks[i]);
}
