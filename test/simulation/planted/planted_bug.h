// Bugs that the patches of patches/ plant into copies of the sources. test_planted switches them on, one
// at a time, to see whether the simulation finds them.
#pragma once

namespace actorflow {

enum class PlantedBug {
  none,
  lost_token,           // a replica that restarts does not get its token of the step again
  double_apply,         // a gradient that is handed in again counts again
  applied_again,        // an asynchronous step that is made again changes its variables again
  stale_write,          // steps of an earlier life of the job may change what was restored
  kept_gradients,       // gradients of an earlier life stay in the accumulators
  opened_early,         // the model may be used before it is restored
  checkpoint_in_place,  // a checkpoint's file grows where it will be read
  forgotten_slots,      // the optimizer's slots are not restored
  wrong_batch,          // a replica that recovers begins with the first batch
  begun_early,          // the next step's parameters are read before this step's updates have been made
  rejoined_late,        // a replica that comes back in a step computes with the values after it
  summed_as_they_came,  // the sum of gradients is in the order of their arrival
  announced_twice,      // an update that is announced twice opens the next step's barrier
  forgotten_messages,   // what waits for a connection is forgotten when it is there
  unsynced_file,        // a new file's bytes are not synced before it takes its place
  unsynced_rename,      // nor is the folder after that
  unsynced_folder,      // a new folder's name is not synced
  steps_not_held,       // training goes on while a checkpoint's variables are taken
  assumed_one_step,     // what a checkpoint has taken is not compared
  unsynced_removal,     // a manifest's files are removed before its own removal is synced
  slice_kept_twice,     // what a task has asked another one for twice is there twice
  lost_spill,           // records for which the disk has no room are forgotten
  accepted_late,        // an attempt that comes too late counts beside the one in its place
  counted_again,        // counters of a part that is made again count again
  counted_in_vain,      // counters of an attempt that has failed count with the next one
  wrong_slice,          // a task gives the slice of another partition than it was asked for
  empty_if_missing,     // slices that another task does not have count as empty
  success_first,        // _SUCCESS is there before the files are
  ended_early,          // a stage ends before its last part is made
  kept_slot,            // the attempts of a lost task still count as running
  not_mended,           // what a lost task has held is not made again
  unverified_chunks,    // chunks in files are taken over unseen
  unsynced_chunks,      // and are not synced before the journal says that they are there
  unsynced_journal,     // nor is the journal itself
  answered_unsynced,    // a part says that it is made before its files are synced
  trusted_journal,      // the checksums of a journal's frames are not compared
  wrong_part,           // slices are read in another order than that of their parts
  own_rank_first,       // a rank adds its own contribution first
  host_in_disorder,     // a host adds its ranks to the sum of those before in another order
  used_as_it_came,      // a part of another use of a name counts as one of this use
};

// Whether it is the one that is switched on.
bool planted(PlantedBug bug);
void plant(PlantedBug bug);

}  // namespace actorflow
